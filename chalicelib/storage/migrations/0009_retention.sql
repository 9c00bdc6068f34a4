-- Retention with approval: what has a finite life and is of no use to anybody goes, or is asked about first.

-- When a text was last served, kept when the decisions that tell it go. Written by the sweep, not by reads.
create table chunk_recalls (
  source_id uuid not null,
  content_hash text not null,
  tenant_id uuid not null,
  last_recalled_at timestamptz not null,
  primary key (source_id, content_hash),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index chunk_recalls_tenant on chunk_recalls (tenant_id);

create table deletion_requests (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  source_id uuid not null,
  content_hash text not null,
  chunk_id uuid not null,
  policy_digest text not null,                  -- of the policy that counted when it was asked
  expires_at timestamptz not null,
  last_recalled_at timestamptz,
  state text not null default 'open' check (state in ('open', 'approved', 'refused', 'lapsed')),
  created_at timestamptz not null,
  lapses_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create unique index deletion_requests_one_open on deletion_requests (source_id, content_hash) where state = 'open';
create index deletion_requests_page on deletion_requests (tenant_id, state, created_at, id);
create index deletion_requests_text on deletion_requests (source_id, content_hash, decided_at);

create index kb_sources_finite on kb_sources (tenant_id) where expires_at is not null;
create index chunk_policies_finite on chunk_policies (tenant_id) where expires_at is not null;

do $$
declare
  name text;
begin
  foreach name in array array['chunk_recalls', 'deletion_requests'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy own_tenant on %I to larder_app, larder_worker '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;
grant select, insert, update on chunk_recalls, deletion_requests to larder_app, larder_worker;
grant insert on tombstones to larder_worker;
-- The sweep must know whose texts have an end; a policy is no text.
create policy every_tenant on chunk_policies for select to larder_worker using (true);

-- The current texts of a tenant that have an end, each once, with when they came and when they were last served.
-- Served is what was allowed, and what was only warned of; refuted texts and other tenants' never are.
create function finite_chunks_v1(p_tenant uuid)
returns table (source_id uuid, content_hash text, chunk_id uuid, expires_at timestamptz, first_seen_at timestamptz,
               last_recalled_at timestamptz)
language sql stable
begin atomic
  select f.source_id, f.content_hash, f.chunk_ids[1], f.expires_at,
         (select min(lower(h.system_time)) from public.kb_chunks h
           where h.source_id = f.source_id and h.content_hash = f.content_hash),
         greatest(
           (select r.last_recalled_at from public.chunk_recalls r
             where r.source_id = f.source_id and r.content_hash = f.content_hash),
           (select max(e.evaluated_at)
              from unnest(f.chunk_ids) as i (chunk_id), lateral (
                select v.evaluated_at from public.policy_evaluations v
                 where v.tenant_id = p_tenant and v.chunk_id = i.chunk_id
                   and (v.decision = 'allow'
                        or (v.mode <> 'enforce' and v.decision <> 'block_tenant_mismatch'
                            and v.reason <> 'the chunk is refuted'))
                 order by v.evaluated_at desc limit 1) e))
    from (
      select c.source_id, c.content_hash, array_agg(c.chunk_id order by c.chunk_index) as chunk_ids,
             least(min(s.expires_at), min(p.expires_at)) as expires_at
        from (select o.id as source_id, null::text as content_hash from public.kb_sources o
               where o.tenant_id = p_tenant and o.expires_at is not null
              union all
              select q.source_id, q.content_hash from public.chunk_policies q
               where q.tenant_id = p_tenant and q.expires_at is not null) e
        join public.kb_chunks c on c.source_id = e.source_id and upper_inf(c.system_time) and not c.forgotten
                               and (e.content_hash is null or c.content_hash = e.content_hash)
        join public.kb_sources s on s.id = c.source_id
        left join public.chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
       group by c.source_id, c.content_hash) f;
end;
revoke all on function finite_chunks_v1 from public;
grant execute on function finite_chunks_v1 to larder_app, larder_worker;
