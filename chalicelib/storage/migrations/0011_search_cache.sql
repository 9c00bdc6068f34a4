-- What a search found a moment ago: which chunks, in which order, and no text. Off by default.
create table search_cache (
  tenant_id uuid not null references tenants on delete cascade,
  key bytea not null,                           -- HMAC over everything that the answer depends on
  row_ids bigint[] not null,
  scores float8[] not null,
  snapshot pg_snapshot not null,                -- from before the search: what it can't have missed
  expires_at timestamptz not null,
  primary key (tenant_id, key)
);
create index search_cache_age on search_cache (expires_at);

-- The transactions that wrote to a tenant's corpus or policies. An answer counts while its snapshot has seen all of them.
-- Writers add rows and never wait for each other, as they would on a counter.
create table search_writes (
  tenant_id uuid not null,
  xid xid8 not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, xid)
);
create index search_writes_age on search_writes (at);

alter table search_cache enable row level security;
alter table search_cache force row level security;
alter table search_writes enable row level security;
alter table search_writes force row level security;
create policy own_tenant on search_cache to larder_app
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid);
create policy own_tenant on search_writes for select to larder_app
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid);
create policy note on search_writes to larder_reader using (true) with check (true);
create policy ran_out on search_cache to larder_worker using (expires_at < clock_timestamp());
create policy ran_out on search_writes to larder_worker using (at < clock_timestamp() - interval '59 minutes');
grant select, insert, update, delete on search_cache to larder_app;
grant select on search_writes to larder_app;
grant select, insert, delete on search_writes to larder_reader;
grant select, delete on search_cache, search_writes to larder_worker;

create function note_search_write_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  insert into public.search_writes (tenant_id, xid)
    select t.id, pg_current_xact_id() from public.tenants t  -- not of one that is being deleted
     where t.id in (select c.tenant_id from changed c)
  on conflict do nothing;
  return null;
end
$$;
create function forget_search_writes_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  delete from public.search_writes where tenant_id = old.id;
  return null;
end
$$;
grant create on schema public to larder_reader;
alter function note_search_write_v1 owner to larder_reader;
alter function forget_search_writes_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function note_search_write_v1, forget_search_writes_v1 from public;

do $$
declare
  name text;
  event text;
begin
  foreach name in array array['kb_sources', 'kb_chunks', 'chunk_policies'] loop
    foreach event in array array['insert', 'update', 'delete'] loop
      execute format(
        'create trigger %s_%s_noted after %s on %I referencing %s table as changed '
        'for each statement execute function note_search_write_v1()',
        name, event, event, name, case event when 'delete' then 'old' else 'new' end);
    end loop;
  end loop;
end
$$;
create trigger tenants_gone after delete on tenants
  for each row execute function forget_search_writes_v1();
