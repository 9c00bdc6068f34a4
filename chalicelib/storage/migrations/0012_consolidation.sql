-- Consolidation: texts that say nearly the same are shown to an operator, who decides. Nothing here acts by itself.
create table consolidation_proposals (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  kind text not null check (kind in ('extractive', 'written')),
  state text not null default 'open'
    check (state in ('writing', 'open', 'accepted', 'rejected', 'undone', 'lapsed', 'failed')),
  pair text not null,                           -- names the two texts, whichever of them would be kept
  similarity double precision not null,         -- cosine
  kept_source_id uuid not null,
  kept_hash text not null,
  kept_chunk_id uuid not null,
  other_source_id uuid not null,
  other_hash text not null,
  other_chunk_id uuid not null,
  policy_digest text not null,                  -- of what is said of either text, its origin apart
  text text,                                    -- of a written one while it is open; redacted
  redactions integer not null default 0,
  model text,                                   -- that wrote it
  reason text,                                  -- why it lapsed or failed
  deposited_source_id uuid,                     -- the document that a written one became
  quarantine_id uuid,                           -- or where a gate put it
  created_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  foreign key (tenant_id, kept_source_id) references kb_sources (tenant_id, id) on delete cascade,
  foreign key (tenant_id, other_source_id) references kb_sources (tenant_id, id) on delete cascade
);
-- A pair is asked about once, and not again once a person has said no. A text would make way for one other at a time.
create unique index consolidation_one_a_pair on consolidation_proposals (tenant_id, pair)
  where kind = 'extractive' and state in ('open', 'rejected', 'undone');
create unique index consolidation_one_way on consolidation_proposals (other_source_id, other_hash)
  where kind = 'extractive' and state = 'open';
create unique index consolidation_one_written on consolidation_proposals (tenant_id, pair)
  where kind = 'written' and state in ('writing', 'open');
create index consolidation_page on consolidation_proposals (tenant_id, state, created_at, id);
create index consolidation_kept on consolidation_proposals (kept_source_id, kept_hash);
create index consolidation_other on consolidation_proposals (other_source_id, other_hash);

-- What waits to be written, by the worker: work and no text. A row goes when its proposal is no longer being written.
create table consolidation_work (
  proposal_id uuid primary key references consolidation_proposals on delete cascade,
  tenant_id uuid not null references tenants on delete cascade,
  correlation_id text,
  created_at timestamptz not null,
  dispatched_at timestamptz,
  lease_token uuid,
  lease_until timestamptz,
  leases integer not null default 0
);
create index consolidation_work_tenant on consolidation_work (tenant_id);

-- Texts that searches pass over, each while the text that stands for it is there. A text is a source and a hash, as for
-- policies: the same text that comes back is still superseded, a changed one is another text.
create table superseded_chunks (
  row_id bigint generated always as identity primary key,
  tenant_id uuid not null,
  source_id uuid not null,
  content_hash text not null,
  kept_source_id uuid not null,
  kept_chunk_id uuid not null,
  proposal_id uuid not null references consolidation_proposals on delete cascade,
  period tstzrange not null check (not isempty(period) and lower_inc(period) and not upper_inc(period)),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade,
  foreign key (tenant_id, kept_source_id) references kb_sources (tenant_id, id) on delete cascade
);
create unique index superseded_chunks_open on superseded_chunks (source_id, content_hash) where upper_inf(period);
create index superseded_chunks_tenant on superseded_chunks (tenant_id);
create index superseded_chunks_kept on superseded_chunks (kept_source_id);
create index superseded_chunks_proposal on superseded_chunks (proposal_id);

do $$
declare
  name text;
begin
  foreach name in array array['consolidation_proposals', 'consolidation_work', 'superseded_chunks'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy own_tenant on %I to larder_app, larder_worker '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;
create policy within_tenant on superseded_chunks for select to larder_public, larder_internal
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid);
create policy every_tenant on consolidation_work to larder_worker using (true) with check (true);
create policy look_up on superseded_chunks for select to larder_reader using (true);
create policy look_up on consolidation_proposals to larder_reader using (true) with check (true);
create policy look_up on consolidation_work to larder_reader using (true);

grant select, insert, update on consolidation_proposals to larder_app;
grant select, update on consolidation_proposals to larder_worker, larder_reader;
grant select, insert, delete on consolidation_work to larder_app;
grant select, update, delete on consolidation_work to larder_worker;
grant select, delete on consolidation_work to larder_reader;
grant select, insert, update on superseded_chunks to larder_app;
grant select on superseded_chunks to larder_worker, larder_reader, larder_public, larder_internal;

-- The texts that a search passes over now: each whose stand-in is current, switched on and among the sources asked.
create function superseded_v1(p_sources uuid[]) returns table (source_id uuid, content_hash text)
language sql stable
begin atomic
  select x.source_id, x.content_hash
    from public.superseded_chunks x join public.kb_sources o on o.id = x.kept_source_id and o.active
   where x.tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid and upper_inf(x.period)
     and (p_sources is null or x.kept_source_id = any (p_sources))
     and exists (select from public.kb_chunks k
                  where k.chunk_id = x.kept_chunk_id and upper_inf(k.system_time) and not k.forgotten);
end;
revoke all on function superseded_v1 from public;
grant execute on function superseded_v1 to larder_app, larder_worker, larder_reader, larder_public, larder_internal;

-- search_words_v1 without what is superseded: it must be gone before the limit, or it would shorten the answer.
create function search_words_v2(p_query text, p_sources uuid[], p_limit integer)
returns table (row_id bigint, rank real)
language plpgsql stable security definer set search_path = pg_catalog, public rows 50
as $$
declare
  v_tenant uuid := nullif(current_setting('larder.tenant_id', true), '')::uuid;
  v_all tsquery := query_words_v1(p_query);
  v_any tsquery;
begin
  return query
    select c.row_id, ts_rank_cd(c.words, v_all)
      from kb_chunks c join kb_sources s on s.id = c.source_id
     where c.tenant_id = v_tenant and upper_inf(c.system_time) and c.words @@ v_all
       and s.active and (p_sources is null or c.source_id = any (p_sources))
       and (c.source_id, c.content_hash) not in (select x.source_id, x.content_hash from superseded_v1(p_sources) x)
     order by 2 desc, 1 limit p_limit;
  if found then
    return;
  end if;
  v_any := any_of_words_v1(p_query);
  return query
    with candidate as materialized (
      select c.row_id, c.words
        from kb_chunks c join kb_sources s on s.id = c.source_id
       where c.tenant_id = v_tenant and upper_inf(c.system_time) and c.words @@ v_any
         and s.active and (p_sources is null or c.source_id = any (p_sources))
         and (c.source_id, c.content_hash) not in (select x.source_id, x.content_hash from superseded_v1(p_sources) x)
       limit 2000
    )
    select k.row_id, ts_rank_cd(k.words, v_any) from candidate k order by 2 desc, 1 limit p_limit;
end
$$;

-- A forgotten text goes from what was written of it, too, as long as that is only proposed.
create function lapse_consolidation_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  with lapsed as (
    update public.consolidation_proposals
       set state = 'lapsed', reason = 'forgotten', text = null, decided_at = new.forgotten_at
     where state in ('writing', 'open') and tenant_id = new.tenant_id
       and ((kept_source_id = new.source_id and kept_hash = new.content_hash)
            or (other_source_id = new.source_id and other_hash = new.content_hash))
    returning id
  )
  delete from public.consolidation_work where proposal_id in (select id from lapsed);
  return null;
end
$$;
create trigger tombstones_consolidation after insert on tombstones
  for each row execute function lapse_consolidation_v1();

grant create on schema public to larder_reader;
alter function search_words_v2 owner to larder_reader;
alter function lapse_consolidation_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function search_words_v2, lapse_consolidation_v1 from public;
grant execute on function search_words_v2 to larder_app, larder_public, larder_internal;

-- What is superseded or no longer so ends the searches that were kept (0011).
create trigger superseded_chunks_insert_noted after insert on superseded_chunks
  referencing new table as changed for each statement execute function note_search_write_v1();
create trigger superseded_chunks_update_noted after update on superseded_chunks
  referencing new table as changed for each statement execute function note_search_write_v1();
create trigger superseded_chunks_delete_noted after delete on superseded_chunks
  referencing old table as changed for each statement execute function note_search_write_v1();
