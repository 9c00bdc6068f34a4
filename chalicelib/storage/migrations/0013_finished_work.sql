-- Finished events, answered suggestions and texts that were held for them go after a while. The tick walks the sources
-- in the order of their ids, some a minute, and looks at each source's own rows alone: no tenant stands before another,
-- and what must stay is passed once a round.
alter table scheduler_state
  add column dropped_upto uuid,                 -- the last source that was looked at; null: a round is over
  add column round_began_on date;               -- rounds of few sources are worth one a day

create index kb_events_finished on kb_events (source_id, finished_at)
  where state in ('done', 'failed', 'skipped', 'cancelled');
-- What points to a held text is found when it goes.
create index kb_events_held_text on kb_events (held_text_id) where held_text_id is not null;
create index kb_suggestions_held_text on kb_suggestions (held_text_id) where held_text_id is not null;

-- Looks at the next p_sources sources after p_after, and drops at most p_rows of each kind of each; p_before is the
-- instant before which they ended. What stays, however old: the last finished event of a source; an event that wrote a
-- version or that a suggestion tells of; an answer that still counts, which is a dismissed refresh for one more TTL and
-- a dismissed address for ever. last_source is null behind the last source.
create function drop_finished_work_v1(
  p_after uuid, p_before timestamptz, p_now timestamptz, p_sources integer, p_rows integer
) returns table (last_source uuid, events integer, suggestions integer, held_texts integer)
language plpgsql security definer set search_path = pg_catalog, public rows 1 as $$
declare
  v_sources uuid[];
begin
  select coalesce(array_agg(s.id order by s.id), '{}') into v_sources from (
    select id from kb_sources where p_after is null or id > p_after order by id limit p_sources) s;
  if cardinality(v_sources) = p_sources then
    last_source := v_sources[p_sources];
  end if;

  delete from kb_suggestions where id in (
    select g.id from kb_sources s cross join lateral (
      select c.id from kb_suggestions c
       where c.source_id = s.id and c.state in ('closed', 'dismissed')
         and coalesce(c.decided_at, c.created_at) < p_before
         and (c.state = 'closed' or c.kind not in ('refresh', 'change_uri', 'merge')
              or (c.kind = 'refresh' and c.decided_at + make_interval(secs => s.refresh_ttl_seconds) <= p_now))
       limit p_rows) g
     where s.id = any (v_sources));
  get diagnostics suggestions = row_count;

  delete from kb_events where id in (
    select e.id from unnest(v_sources) as s (id) cross join lateral (
      select f.id from kb_events f
       where f.source_id = s.id and f.state in ('done', 'failed', 'skipped', 'cancelled') and f.finished_at < p_before
         and exists (select from kb_events n
                      where n.source_id = s.id and n.state in ('done', 'failed', 'skipped', 'cancelled')
                        and n.finished_at >= f.finished_at and (n.finished_at, n.id) > (f.finished_at, f.id))
         and not exists (select from kb_versions v where v.event_id = f.id)
         and not exists (select from kb_suggestions g where g.source_id = s.id and g.event_id = f.id)
       order by f.finished_at limit p_rows) e);
  get diagnostics events = row_count;

  delete from kb_held_texts where id in (
    select t.id from unnest(v_sources) as s (id) cross join lateral (
      select h.id from kb_held_texts h
       where h.source_id = s.id and h.fetched_at < p_before
         and not exists (select from kb_suggestions g
                          where g.held_text_id = h.id and g.state in ('open', 'snoozed', 'approved'))
         and not exists (select from kb_events w
                          where w.held_text_id = h.id and w.state in ('pending', 'dispatched', 'running'))
       limit p_rows) t);
  get diagnostics held_texts = row_count;
  return next;
end
$$;
grant create on schema public to larder_reader;
alter function drop_finished_work_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function drop_finished_work_v1 from public;
grant execute on function drop_finished_work_v1 to larder_worker;
grant select, delete on kb_events to larder_reader;
grant delete on kb_suggestions to larder_reader;
create policy look_up on kb_events to larder_reader using (true);

-- The request that made a change, as in its answer's X-Correlation-Id and in the log; null for what the house does itself.
alter table admin_audit add column correlation_id text;
