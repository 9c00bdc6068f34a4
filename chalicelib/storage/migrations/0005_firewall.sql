-- What may be read, by whom and for what; and the record of every decision.

alter table tenants
  add column firewall_mode text,                -- null: the deployment's; an unknown word counts as advisory
  add column memory_require_approval boolean not null default false;

-- What a tenant may change of itself; its plan and its limits are for operations alone.
revoke update on tenants from larder_app;
grant update (enabled, timezone, night_start, night_end, nightly_job_cap, firewall_mode, memory_require_approval)
  on tenants to larder_app;

alter table api_tokens
  add column roles text[] not null default '{}',
  add column purposes text[];                   -- null: any purpose; a request may name one of these

alter table kb_sources
  add column provenance text not null default 'external_fetch',
  add column producer text not null default '',
  add column trust integer not null default 30 check (trust between 0 and 100),
  add column sensitivity text not null default 'public',
  add column expires_at timestamptz,
  add column permitted_roles text[],            -- null: any role; '{}': nobody
  add column allowed_purposes text[];           -- null: any purpose; '{}': none

-- Policy and validation belong to a source and a text for ever: a paragraph that leaves and comes back has them again.
create table chunk_policies (
  source_id uuid not null,
  content_hash text not null,
  tenant_id uuid not null,
  sensitivity text not null default '',         -- '': as the source says
  expires_at timestamptz,
  permitted_roles text[],
  allowed_purposes text[],
  content_class text not null default '',
  validation_status text not null default '',
  updated_at timestamptz not null,
  primary key (source_id, content_hash),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index chunk_policies_tenant on chunk_policies (tenant_id);

-- A forgotten text must not come back with the next refresh.
create table tombstones (
  source_id uuid not null,
  content_hash text not null,
  tenant_id uuid not null,
  forgotten_at timestamptz not null,
  primary key (source_id, content_hash),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index tombstones_tenant on tombstones (tenant_id);

-- One row a decision. Rows of a segment (tenant, day, allow or block) form a chain: each carries the hash of the one before.
create table evaluation_segments (
  tenant_id uuid not null references tenants on delete cascade,
  day date not null,
  kind text not null check (kind in ('allow', 'block')),
  row_count bigint not null default 0,
  last_hash bytea not null,                     -- of the last row; of the segment's own name while it is empty
  sealed_at timestamptz,
  seal text,                                    -- HMAC over the finished head and the seal before
  key_id text,
  dropped_at timestamptz,                       -- its rows went by retention; the sealed head stays
  primary key (tenant_id, kind, day)
);

-- Everything in a row is what its canonical JSON says, from which row_hash is made again.
-- It refers to no other table: a reference is looked up row by row, and the head that every row comes by has one.
create table policy_evaluations (
  id uuid not null,                             -- the first half of row_hash: random ones took a fifth of the insert
  tenant_id uuid not null,
  day date not null,
  kind text not null check (kind in ('allow', 'block')),
  number bigint not null,                       -- 1 is the first of its segment
  chunk_id uuid not null,
  source_id uuid not null,
  version integer,
  role text not null,
  purpose text not null,
  operator text not null,
  trace_id text not null,
  decision text not null,
  reason text not null,
  policy_digest text not null,
  mode text not null,
  evaluated_at timestamptz not null,
  row_hash bytea not null,                      -- SHA-256 of the hash before and the SHA-256 of the canonical JSON
  primary key (tenant_id, kind, day, number)
);
create index policy_evaluations_page on policy_evaluations (tenant_id, evaluated_at, id);
create index policy_evaluations_chunk on policy_evaluations (tenant_id, chunk_id, evaluated_at);

-- A head that goes with its tenant takes its rows along. Before it, not after: a cascade acts as the owner, whom row-level
-- security does not hold then, and what it leaves for later runs as whoever deleted.
create function drop_evaluations_v1() returns trigger language plpgsql as $$
begin
  delete from policy_evaluations where tenant_id = old.tenant_id and kind = old.kind and day = old.day;
  return old;
end
$$;
create trigger evaluation_segments_rows before delete on evaluation_segments
  for each row execute function drop_evaluations_v1();

create table admin_audit (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  at timestamptz not null,
  token_id uuid,
  operator text,
  action text not null,
  target text not null,
  before jsonb,
  after jsonb
);
create index admin_audit_page on admin_audit (tenant_id, at, id);

do $$
declare
  name text;
begin
  foreach name in array array[
    'chunk_policies', 'tombstones', 'evaluation_segments', 'policy_evaluations', 'admin_audit'
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
create policy every_tenant on evaluation_segments to larder_worker using (true) with check (true);
create policy every_tenant on policy_evaluations to larder_worker using (true) with check (true);

grant select, insert, update on chunk_policies to larder_app, larder_worker;
grant select, insert on tombstones to larder_app;
grant select on tombstones to larder_worker;
-- The edge adds decisions and changes none: only the head of a chain moves.
grant select, insert on policy_evaluations to larder_app;
grant select, insert, update on evaluation_segments to larder_app;
grant select, update on evaluation_segments to larder_worker;
grant select, delete on policy_evaluations to larder_worker;
grant select, insert on admin_audit to larder_app, larder_worker;

-- The caller's token with what it lets a request be.
create function find_token_v2(p_hash bytea)
returns table (
  token_id uuid, tenant_id uuid, class text, operator_name text, token_hash bytea, tenant_enabled boolean,
  roles text[], purposes text[], firewall_mode text
)
language sql stable security definer set search_path = pg_catalog, public rows 1
begin atomic
  select t.id, t.tenant_id, t.class, t.operator_name, t.token_hash, o.enabled, t.roles, t.purposes, o.firewall_mode
    from public.api_tokens t join public.tenants o on o.id = t.tenant_id
   where t.token_hash = p_hash and t.revoked_at is null;
end;
grant create on schema public to larder_reader;
alter function find_token_v2 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function find_token_v2 from public;
grant execute on function find_token_v2 to larder_app;

-- Appends decisions to their chain, in the transaction of the read that they are about.
-- Arrays run side by side, one element a decision; p_records holds the SHA-256 of each one's canonical JSON, end to end.
-- The head's row lock orders concurrent readers of one tenant.
create function append_evaluations_v1(
  p_tenant uuid, p_day date, p_kind text, p_chunks uuid[], p_sources uuid[], p_versions integer[], p_decisions text[],
  p_reasons text[], p_digests text[], p_records bytea, p_role text, p_purpose text, p_operator text, p_trace text,
  p_mode text, p_now timestamptz
) returns bigint language plpgsql as $$
declare
  v_hash bytea;
  v_number bigint;
  v_count integer := cardinality(p_chunks);
  v_hashes bytea[] := '{}';
begin
  for attempt in 1 .. 2 loop
    select row_count, last_hash into v_number, v_hash from evaluation_segments
     where tenant_id = p_tenant and day = p_day and kind = p_kind for update;
    exit when found;
    insert into evaluation_segments (tenant_id, day, kind, last_hash)
      values (p_tenant, p_day, p_kind,
              sha256(convert_to(p_tenant || ' ' || to_char(p_day, 'YYYY-MM-DD') || ' ' || p_kind, 'UTF8')))
      on conflict do nothing;
  end loop;

  for place in 0 .. v_count - 1 loop
    v_hash := sha256(v_hash || substr(p_records, place * 32 + 1, 32));
    v_hashes := v_hashes || v_hash;
  end loop;

  insert into policy_evaluations (id, tenant_id, day, kind, number, chunk_id, source_id, version, role, purpose,
      operator, trace_id, decision, reason, policy_digest, mode, evaluated_at, row_hash)
    select encode(substr(d.row_hash, 1, 16), 'hex')::uuid, p_tenant, p_day, p_kind, v_number + d.place, d.chunk_id,
           d.source_id, d.version, p_role, p_purpose, p_operator, p_trace, d.decision, d.reason, d.policy_digest, p_mode, p_now,
           d.row_hash
      from unnest(p_chunks, p_sources, p_versions, p_decisions, p_reasons, p_digests, v_hashes) with ordinality
           as d (chunk_id, source_id, version, decision, reason, policy_digest, row_hash, place);

  update evaluation_segments set row_count = v_number + v_count, last_hash = v_hash
   where tenant_id = p_tenant and day = p_day and kind = p_kind;
  return v_number + v_count;
end
$$;

-- The stricter of two policies, field by field: as domain/policy.py says it, and a test holds the two together.
create function stricter_v1(p_one chunk_policies, p_other chunk_policies) returns chunk_policies
language plpgsql immutable as $$
declare
  v_tiers constant text[] := array['', 'public', 'internal', 'confidential', 'restricted'];
  v_states constant text[] := array['', 'confirmed', 'unverified', 'refuted'];
begin
  -- A word that nobody knows is the strictest.
  p_one.sensitivity := case
    when coalesce(array_position(v_tiers, p_other.sensitivity), 6) > coalesce(array_position(v_tiers, p_one.sensitivity), 6)
    then p_other.sensitivity else p_one.sensitivity end;
  p_one.expires_at := least(p_one.expires_at, p_other.expires_at);
  p_one.permitted_roles := case
    when p_one.permitted_roles is null then p_other.permitted_roles
    when p_other.permitted_roles is null then p_one.permitted_roles
    else array(select unnest(p_one.permitted_roles) intersect select unnest(p_other.permitted_roles)) end;
  p_one.allowed_purposes := case
    when p_one.allowed_purposes is null then p_other.allowed_purposes
    when p_other.allowed_purposes is null then p_one.allowed_purposes
    else array(select unnest(p_one.allowed_purposes) intersect select unnest(p_other.allowed_purposes)) end;
  p_one.content_class := case when 'credentials' in (p_one.content_class, p_other.content_class)
    then 'credentials' else p_one.content_class end;
  p_one.validation_status := v_states[greatest(
    coalesce(array_position(v_states, p_one.validation_status), 4),
    coalesce(array_position(v_states, p_other.validation_status), 4))];
  return p_one;
end
$$;

-- Texts to come inherit from the texts that they descend from, and keep what they had: a refresh never loosens.
-- Arrays run side by side: the hash of a text to come, the hash of one that it descends from.
create function inherit_policies_v1(p_source uuid, p_new text[], p_old text[], p_now timestamptz) returns void
language plpgsql as $$
declare
  v_pair record;
  v_policy chunk_policies;
  v_own chunk_policies;
begin
  for v_pair in select * from unnest(p_new, p_old) as l (new_hash, old_hash) loop
    select * into v_policy from chunk_policies where source_id = p_source and content_hash = v_pair.old_hash;
    continue when not found;
    select * into v_own from chunk_policies where source_id = p_source and content_hash = v_pair.new_hash;
    if found then
      v_policy := stricter_v1(v_own, v_policy);
    end if;
    insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, expires_at, permitted_roles,
                                allowed_purposes, content_class, validation_status, updated_at)
      values (p_source, v_pair.new_hash, v_policy.tenant_id, v_policy.sensitivity, v_policy.expires_at,
              v_policy.permitted_roles, v_policy.allowed_purposes, v_policy.content_class, v_policy.validation_status, p_now)
      on conflict (source_id, content_hash) do update
        set sensitivity = excluded.sensitivity, expires_at = excluded.expires_at,
            permitted_roles = excluded.permitted_roles, allowed_purposes = excluded.allowed_purposes,
            content_class = excluded.content_class, validation_status = excluded.validation_status;
  end loop;
end
$$;

-- Forgetting: the text goes from every version, a mark stays, and the mark keeps the next refresh from bringing it back.
alter table kb_chunks add column forgotten boolean not null default false;

create function erase_chunk_v1(p_source uuid, p_hash text) returns integer
language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  v_tenant uuid := nullif(current_setting('larder.tenant_id', true), '')::uuid;
  v_erased integer;
begin
  delete from embedding_cache e using kb_chunks c
   where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash
     and e.text_hash = sha256(convert_to(c.text, 'UTF8'));
  delete from kb_held_texts h using kb_chunks c
   where h.tenant_id = v_tenant and h.source_id = p_source and c.source_id = p_source and c.content_hash = p_hash
     and not c.forgotten and position(substr(c.text, c.overlap + 1) in h.text) > 0;
  -- Titles and descriptions may say it again, and so may a text that a gate stopped.
  update kb_versions set title = null, description = null where tenant_id = v_tenant and source_id = p_source;
  update quarantine q set text = '[forgotten]', title = null, state = 'dropped'
    from kb_chunks c
   where q.tenant_id = v_tenant and q.source_id = p_source and c.source_id = p_source and c.content_hash = p_hash
     and not c.forgotten and position(substr(c.text, c.overlap + 1) in q.text) > 0;
  -- What the next chunk repeats of it goes too.
  update kb_chunks n set text = substr(n.text, n.overlap + 1), overlap = 0
    from kb_chunks c
   where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash
     and n.source_id = p_source and n.chunk_index = c.chunk_index + 1 and n.overlap > 0 and n.system_time && c.system_time;
  -- A vector of zeros is near to nothing, and the index leaves it out.
  update kb_chunks set text = '[forgotten]', overlap = 0, forgotten = true,
         embedding = array_fill(0::real, array[384])::vector
   where tenant_id = v_tenant and source_id = p_source and content_hash = p_hash and not forgotten;
  get diagnostics v_erased = row_count;
  return v_erased;
end
$$;
grant create on schema public to larder_reader;
alter function erase_chunk_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function erase_chunk_v1 from public;
grant execute on function erase_chunk_v1 to larder_app, larder_worker;
grant select, update on kb_chunks to larder_reader;
grant select, delete on embedding_cache to larder_reader;
grant select, delete on kb_held_texts to larder_reader;
create policy look_up on kb_held_texts to larder_reader using (true);
grant select, update on kb_versions to larder_reader;
create policy look_up on kb_versions to larder_reader using (true) with check (true);
drop policy look_up on kb_chunks;
create policy look_up on kb_chunks to larder_reader using (true) with check (true);

-- finish_refresh_v1 with what was said of the old texts: p_heirs descend from p_parents, as of p_policy_epoch.
-- If a policy of the source was written since, the descent must be worked out anew: policies_changed.
create function finish_refresh_v2(
  p_event uuid, p_token uuid, p_now timestamptz, p_base_version integer, p_check jsonb, p_version jsonb,
  p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[],
  p_reuse bigint[], p_embeddings text[], p_model text, p_heirs text[], p_parents text[], p_policy_epoch timestamptz
) returns text language plpgsql as $$
declare
  v_source uuid;
  v_result text;
begin
  select s.id into v_source from kb_sources s join kb_events e on e.source_id = s.id where e.id = p_event for no key update of s;
  if p_version is not null
     and (select max(updated_at) from chunk_policies where source_id = v_source) is distinct from p_policy_epoch then
    update kb_events set state = 'pending', lease_token = null, lease_until = null, leases = 0
     where id = p_event and state = 'running' and lease_token = p_token;
    return 'policies_changed';
  end if;
  v_result := finish_refresh_v1(p_event, p_token, p_now, p_base_version, p_check, p_version, p_close, p_ids, p_indexes,
                                p_overlaps, p_texts, p_hashes, p_reuse, p_embeddings, p_model);
  if v_result = 'written' then
    perform inherit_policies_v1(v_source, p_heirs, p_parents, p_now);
    perform erase_chunk_v1(v_source, t.content_hash)
       from tombstones t where t.source_id = v_source and t.content_hash = any (p_hashes);
  end if;
  return v_result;
end
$$;

-- Ways in: what was stopped, what is stopped, and what came of each deposit.
create table deny_patterns (
  tenant_id uuid not null references tenants on delete cascade,
  pattern text not null check (length(pattern) between 1 and 1000),
  created_at timestamptz not null,
  primary key (tenant_id, pattern)
);

create table quarantine (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  source_id uuid,                               -- a page of this source; null: a deposit of its own
  deposit text not null,
  gate text not null,
  reason text not null,
  title text,
  text text not null,                           -- redacted
  policy jsonb not null default '{}',           -- what the depositor asked for
  state text not null default 'held' check (state in ('held', 'released', 'dropped')),
  created_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index quarantine_page on quarantine (tenant_id, state, created_at, id);

create table ingest_log (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  at timestamptz not null,
  deposit text not null,
  outcome text not null,
  gate text,
  reason text not null default '',
  redactions integer not null default 0,
  source_id uuid,
  correlation_id text                           -- of the request that brought the text, or approved to fetch it
);
create index ingest_log_page on ingest_log (tenant_id, at, id);

do $$
declare
  name text;
begin
  foreach name in array array['deny_patterns', 'quarantine', 'ingest_log'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy own_tenant on %I to larder_app, larder_worker '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;
grant select, update on quarantine to larder_reader;
create policy look_up on quarantine to larder_reader using (true) with check (true);
grant select, insert, delete on deny_patterns to larder_app;
grant select on deny_patterns to larder_worker;
grant select, insert, update on quarantine to larder_app, larder_worker;
grant select, insert on ingest_log to larder_app, larder_worker;
grant insert on kb_held_texts to larder_app;
