-- A page's session names the tokens that it was opened with: each request asks whether they still count.
create function find_token_by_id_v1(p_id uuid)
returns table (
  token_id uuid, tenant_id uuid, class text, operator_name text, tenant_enabled boolean,
  roles text[], purposes text[], firewall_mode text
)
language sql stable security definer set search_path = pg_catalog, public rows 1
begin atomic
  select t.id, t.tenant_id, t.class, t.operator_name, o.enabled, t.roles, t.purposes, o.firewall_mode
    from public.api_tokens t join public.tenants o on o.id = t.tenant_id
   where t.id = p_id and t.revoked_at is null;
end;
grant create on schema public to larder_reader;
alter function find_token_by_id_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function find_token_by_id_v1 from public;
grant execute on function find_token_by_id_v1 to larder_app;
