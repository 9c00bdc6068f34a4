-- Every tenant's table: nobody sees a row of another tenant, the owner included.
-- nullif: after one SET LOCAL the setting is '' instead of null. No inner select: the planner shall see the constant.
do $$
declare
  name text;
begin
  foreach name in array array[
    'mutation_windows', 'kb_sources', 'kb_versions', 'kb_chunks', 'kb_held_texts', 'kb_suggestions', 'kb_events',
    'kb_run_queue', 'kb_night_use', 'api_tokens'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy own_tenant on %I to larder_app, larder_worker '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;

alter table tenants enable row level security;
alter table tenants force row level security;
create policy own_tenant on tenants to larder_app
  using (id = nullif(current_setting('larder.tenant_id', true), '')::uuid)
  with check (id = nullif(current_setting('larder.tenant_id', true), '')::uuid);

-- The dispatcher and the lease look across tenants, at work and never at text.
create policy every_tenant on tenants for select to larder_worker using (true);
create policy every_tenant on kb_events to larder_worker using (true) with check (true);
create policy every_tenant on kb_run_queue to larder_worker using (true) with check (true);
create policy every_tenant on kb_night_use to larder_worker using (true) with check (true);
create policy every_tenant on kb_sources for select to larder_worker using (true);

-- Operations under IAM make and end tenants and tokens; they run as the owner.
create policy operations on tenants to current_user using (true) with check (true);
create policy operations on api_tokens to current_user using (true) with check (true);

-- The two SECURITY DEFINER look-ups: a token by its hash, the keyword leg of a search.
create policy look_up on api_tokens for select to larder_reader using (true);
create policy look_up on tenants for select to larder_reader using (true);
create policy look_up on kb_chunks for select to larder_reader using (true);
create policy look_up on kb_sources for select to larder_reader using (true);

grant select on plans to larder_app, larder_worker;
grant select, update on tenants to larder_app;
grant select on tenants to larder_worker;
grant select, insert, update, delete on mutation_windows to larder_app;
grant select, insert, update on kb_sources to larder_app;
grant select, update on kb_sources to larder_worker;
grant select on kb_versions, kb_chunks to larder_app;
grant select, insert, update on kb_versions, kb_chunks to larder_worker;
grant select on kb_held_texts to larder_app;
grant select, insert, delete on kb_held_texts to larder_worker;
grant select, insert, update on kb_suggestions to larder_app, larder_worker;
grant select, insert, update on kb_events to larder_app;
grant select, insert, update on kb_events to larder_worker;
grant select, insert, update, delete on kb_run_queue to larder_app, larder_worker;
grant select on kb_night_use to larder_app;
grant select, insert, update, delete on kb_night_use to larder_worker;
grant select, insert, update, delete on embedding_cache to larder_worker;
grant select, insert, update, delete on host_leases to larder_worker;
grant select on scheduler_state to larder_app;
grant select, insert, update on scheduler_state to larder_worker;
grant select on tenants, api_tokens, kb_chunks, kb_sources to larder_reader;
