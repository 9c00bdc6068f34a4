-- Function names carry their version, so that old and new code can run side by side during an upgrade.

-- The caller's token, by its hash. The edge knows no tenant before this answers.
create function find_token_v1(p_hash bytea)
returns table (
  token_id uuid, tenant_id uuid, class text, operator_name text, token_hash bytea, tenant_enabled boolean
)
language sql stable security definer set search_path = pg_catalog, public rows 1
begin atomic
  select t.id, t.tenant_id, t.class, t.operator_name, t.token_hash, o.enabled
    from public.api_tokens t join public.tenants o on o.id = t.tenant_id
   where t.token_hash = p_hash and t.revoked_at is null;
end;

-- What a query asks for. Hundreds of dashes are hundreds of negations to Postgres, which gives up.
create function query_words_v1(p_query text) returns tsquery
language plpgsql immutable strict set search_path = pg_catalog, public as $$
begin
  return websearch_to_tsquery('english', p_query);
exception when internal_error or program_limit_exceeded or statement_too_complex then
  return plainto_tsquery('english', p_query);
end
$$;

-- Any of the words, where all of them found nothing; null, which matches nothing, if the query rules words out.
create function any_of_words_v1(p_query text) returns tsquery
language sql immutable strict set search_path = pg_catalog, public as $$
  select case when query_words_v1(p_query)::text !~ '(^|[ (])!'
              then replace(plainto_tsquery('english', p_query)::text, ' & ', ' | ')::tsquery end
$$;

-- The keyword leg. Under row-level security @@ could not use the index (it is not leakproof), so the function runs
-- as a role with a policy of its own and reads the tenant from the same setting as every policy does.
-- All words first; any word only if that finds too little, with the candidates capped before they are ranked.
create function search_words_v1(p_query text, p_sources uuid[], p_limit integer)
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
       limit 2000
    )
    select k.row_id, ts_rank_cd(k.words, v_any) from candidate k order by 2 desc, 1 limit p_limit;
end
$$;

grant create on schema public to larder_reader;  -- only while it takes the functions over
alter function find_token_v1 owner to larder_reader;
alter function search_words_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function find_token_v1, search_words_v1 from public;
grant execute on function find_token_v1 to larder_app;
grant execute on function search_words_v1 to larder_app;

-- Whatever makes an event wait also tells the dispatcher when to look: no code path can forget it.
create function wake_tenant_v1() returns trigger language plpgsql as $$
begin
  insert into kb_run_queue as q (tenant_id, next_at) values (new.tenant_id, new.available_at)
  on conflict (tenant_id) do update set next_at = least(q.next_at, excluded.next_at)
   where q.next_at > excluded.next_at;
  return null;
end
$$;
create trigger kb_events_wake after insert or update of state, available_at on kb_events
  for each row when (new.state = 'pending') execute function wake_tenant_v1();

-- However work ends, by whichever hand, the suggestion that asked for it is answered.
create function close_suggestion_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  update public.kb_suggestions set state = 'closed' where event_id = new.id and state = 'approved';
  return null;
end
$$;
grant create on schema public to larder_reader;
alter function close_suggestion_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function close_suggestion_v1 from public;
grant select, update on kb_suggestions to larder_reader;
create policy look_up on kb_suggestions to larder_reader using (true) with check (true);
create index kb_suggestions_approved on kb_suggestions (event_id) where state = 'approved';
create trigger kb_events_end after update of state on kb_events
  for each row when (new.state in ('done', 'failed', 'skipped', 'cancelled') and new.state <> old.state)
  execute function close_suggestion_v1();

-- Claims due events of the given tenants, whose run-queue rows the caller has locked.
-- Arrays run side by side, one element a tenant: the cap, tonight's id (null: the window is closed), the next night's start.
-- A night event takes room under the cap once a night; what is over the cap or outside the window moves to the next night.
create function dispatch_events_v1(
  p_now timestamptz, p_tenants uuid[], p_caps integer[], p_nights date[], p_next_nights timestamptz[],
  p_per_tenant integer, p_limit integer
) returns table (event_id uuid, tenant_id uuid, correlation_id text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_tenant uuid;
  v_night date;
  v_free uuid[];
  v_counted uuid[];
  v_room integer;
  v_share integer;
  v_left integer := p_limit;
begin
  for i in 1 .. coalesce(array_length(p_tenants, 1), 0) loop
    v_tenant := p_tenants[i];
    v_night := p_nights[i];
    v_counted := '{}';
    v_share := least(p_per_tenant, v_left);
    exit when v_share <= 0;

    update kb_events e set state = 'skipped', outcome = 'skipped_inactive', finished_at = p_now
     where e.id = any (array(
       select d.id from kb_events d join kb_sources s on s.id = d.source_id
        where d.tenant_id = v_tenant and d.state = 'pending' and d.available_at <= p_now and not s.active
        for update of d skip locked));

    select coalesce(array_agg(id), '{}') into v_free from (
      select d.id from kb_events d
       where d.tenant_id = v_tenant and d.state = 'pending' and d.available_at <= p_now
         and (not d.night or (v_night is not null and d.counted_night = v_night))
       order by d.approved_at, d.id limit v_share for update skip locked) free;

    if v_night is not null then
      insert into kb_night_use (tenant_id, night_id) values (v_tenant, v_night) on conflict do nothing;
      select p_caps[i] - u.used into v_room from kb_night_use u
       where u.tenant_id = v_tenant and u.night_id = v_night for update;
      select coalesce(array_agg(id), '{}') into v_counted from (
        select d.id from kb_events d
         where d.tenant_id = v_tenant and d.state = 'pending' and d.available_at <= p_now
           and d.night and d.counted_night is distinct from v_night
         order by d.approved_at, d.id
         limit greatest(0, least(v_room, v_share - cardinality(v_free))) for update skip locked) counted;
      update kb_night_use u set used = u.used + cardinality(v_counted)
       where u.tenant_id = v_tenant and u.night_id = v_night and cardinality(v_counted) > 0;
      v_room := v_room - cardinality(v_counted);
    end if;

    return query
      with sent as (
        update kb_events e
           set state = 'dispatched', dispatched_at = p_now,
               counted_night = case when e.id = any (v_counted) then v_night else e.counted_night end
         where e.id = any (v_free || v_counted)
        returning e.id, e.tenant_id, e.correlation_id, e.approved_at
      )
      select s.id, s.tenant_id, s.correlation_id from sent s order by s.approved_at, s.id;
    v_left := v_left - cardinality(v_free) - cardinality(v_counted);

    if v_night is null or v_room <= 0 then
      update kb_events e set available_at = p_next_nights[i]
       where e.id = any (array(
         select d.id from kb_events d
          where d.tenant_id = v_tenant and d.state = 'pending' and d.night and d.available_at <= p_now
            and (v_night is null or d.counted_night is distinct from v_night)
          for update skip locked));
    end if;

    -- What is still due goes behind the other tenants, to the next tick; nothing left: no row.
    update kb_run_queue q set next_at = greatest(w.first_at, p_now + interval '1 microsecond')
      from (select min(d.available_at) as first_at from kb_events d where d.tenant_id = v_tenant and d.state = 'pending') w
     where q.tenant_id = v_tenant and w.first_at is not null;
    delete from kb_run_queue q
     where q.tenant_id = v_tenant
       and not exists (select from kb_events d where d.tenant_id = v_tenant and d.state = 'pending');
  end loop;
end
$$;

-- One worker gets the event, or nobody: a message that comes twice, too late or to a busy event finds no row.
create function lease_event_v1(
  p_event uuid, p_token uuid, p_now timestamptz, p_until timestamptz, p_max_leases integer
) returns setof kb_events language plpgsql as $$
declare
  v_event kb_events;
begin
  select * into v_event from kb_events
   where id = p_event and (state = 'dispatched' or (state = 'running' and lease_until <= p_now))
   for update skip locked;
  if not found then
    return;
  end if;
  if v_event.leases >= p_max_leases then
    update kb_events set state = 'failed', outcome = 'internal_error', finished_at = p_now, lease_token = null,
           error = format('%s leases ended without an outcome', v_event.leases)
     where id = p_event;
    return;
  end if;
  return query
    update kb_events set state = 'running', lease_token = p_token, lease_until = p_until, leases = leases + 1
     where id = p_event returning *;
end
$$;

-- Everything that a finished check writes, in one call, behind every check that must hold at that instant.
-- p_check: columns of kb_sources; p_version: columns of kb_versions, null if the text is unchanged.
-- The chunk arrays run side by side: a row either takes over the embedding of an open row (p_reuse) or brings its own.
-- Returns written, unchanged, or why nothing was written: lost_lease, source_changed, skipped_inactive,
-- tenant_disabled, superseded.
create function finish_refresh_v1(
  p_event uuid, p_token uuid, p_now timestamptz, p_base_version integer, p_check jsonb, p_version jsonb,
  p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[],
  p_reuse bigint[], p_embeddings text[], p_model text
) returns text language plpgsql as $$
declare
  v_event kb_events;
  v_source kb_sources;
  v_check kb_sources;
  v_version kb_versions;
  v_last tstzrange;
  v_at timestamptz;
  v_number integer;
  v_result text;
begin
  select s.* into v_source from kb_sources s join kb_events e on e.source_id = s.id
   where e.id = p_event for no key update of s;
  select * into v_event from kb_events
   where id = p_event and state = 'running' and lease_token = p_token for update;
  if v_source.id is null or v_event.id is null then
    return 'lost_lease';
  end if;

  v_result := case
    when not (select t.enabled from tenants t where t.id = v_event.tenant_id) then 'tenant_disabled'
    when not v_source.active then 'skipped_inactive'
    when v_source.generation <> v_event.source_generation then 'source_changed'
    when v_source.current_version is distinct from p_base_version then 'superseded'
  end;
  if v_result = 'tenant_disabled' then
    update kb_events set state = 'pending', lease_token = null, lease_until = null, leases = 0 where id = p_event;
    return v_result;
  elsif v_result is not null then
    update kb_events set state = 'skipped', outcome = v_result, finished_at = p_now, lease_token = null where id = p_event;
    return v_result;
  end if;

  if p_version is null then
    v_result := 'unchanged';
  else
    v_result := 'written';
    select system_time into v_last from kb_versions
     where source_id = v_source.id order by version desc limit 1;
    -- A clock that stepped back, or a twin that was quicker, must not make an empty or overlapping range.
    v_at := greatest(p_now, lower(v_last) + interval '1 microsecond', upper(v_last));
    v_number := coalesce((select max(version) from kb_versions where source_id = v_source.id), 0) + 1;

    update kb_versions set system_time = tstzrange(lower(system_time), v_at)
     where source_id = v_source.id and upper_inf(system_time);
    v_version := jsonb_populate_record(null::kb_versions, p_version);
    v_version.source_id := v_source.id;
    v_version.tenant_id := v_source.tenant_id;
    v_version.version := v_number;
    v_version.event_id := p_event;
    v_version.system_time := tstzrange(v_at, null);
    v_version.recorded_at := clock_timestamp();
    insert into kb_versions select v_version.*;

    update kb_chunks set system_time = tstzrange(lower(system_time), v_at)
     where row_id = any (p_close) and source_id = v_source.id and upper_inf(system_time);
    insert into kb_chunks (tenant_id, source_id, chunk_id, chunk_index, overlap, text, content_hash, embedding_model, embedding, system_time)
      select v_source.tenant_id, v_source.id, n.chunk_id, n.chunk_index, n.overlap, n.text, n.content_hash,
             coalesce(r.embedding_model, p_model), coalesce(r.embedding, n.embedding::vector), tstzrange(v_at, null)
        from unnest(p_ids, p_indexes, p_overlaps, p_texts, p_hashes, p_reuse, p_embeddings)
               as n (chunk_id, chunk_index, overlap, text, content_hash, reuse, embedding)
        left join kb_chunks r on r.row_id = n.reuse and r.source_id = v_source.id;
  end if;

  v_check := jsonb_populate_record(v_source, p_check);
  update kb_sources s
     set etag = v_check.etag, last_modified = v_check.last_modified, body_hash = v_check.body_hash,
         pipeline = v_check.pipeline, last_unconditional_at = v_check.last_unconditional_at,
         redirect_to = v_check.redirect_to,
         redirect_since = case
           when v_check.redirect_to is null then null
           when v_check.redirect_to is not distinct from s.redirect_to then s.redirect_since
           else p_now end,
         last_attempt_at = greatest(p_now, s.last_attempt_at), last_checked_at = greatest(p_now, s.last_checked_at),
         last_changed_at = case when v_result = 'written' then v_at else s.last_changed_at end,
         current_version = coalesce(v_number, s.current_version),
         last_status = case when v_result = 'written' then 'new_version' else 'unchanged' end,
         last_error = null, gone_in_a_row = 0, updated_at = p_now
   where s.id = v_source.id;

  update kb_events
     set state = 'done', outcome = case when v_result = 'written' then 'new_version' else 'unchanged' end,
         error = null, finished_at = p_now, lease_token = null, lease_until = null
   where id = p_event;
  update kb_suggestions set state = 'closed'
   where source_id = v_source.id and state in ('open', 'snoozed') and kind in ('refresh', 'gone', 'review_change');
  return v_result;
end
$$;
