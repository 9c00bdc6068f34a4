CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';
CREATE TYPE public.uuidrange AS RANGE (
    subtype = uuid,
    multirange_type_name = public.uuidmultirange
);
ALTER TYPE public.uuidrange OWNER TO larder_owner;
CREATE FUNCTION public.any_of_words_v1(p_query text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'public'
    AS $$
  select case when query_words_v1(p_query)::text !~ '(^|[ (])!'
              then replace(plainto_tsquery('english', p_query)::text, ' & ', ' | ')::tsquery end
$$;
ALTER FUNCTION public.any_of_words_v1(p_query text) OWNER TO larder_owner;
CREATE FUNCTION public.append_evaluations_v1(p_tenant uuid, p_day date, p_kind text, p_chunks uuid[], p_sources uuid[], p_versions integer[], p_decisions text[], p_reasons text[], p_digests text[], p_records bytea, p_role text, p_purpose text, p_operator text, p_trace text, p_mode text, p_now timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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
ALTER FUNCTION public.append_evaluations_v1(p_tenant uuid, p_day date, p_kind text, p_chunks uuid[], p_sources uuid[], p_versions integer[], p_decisions text[], p_reasons text[], p_digests text[], p_records bytea, p_role text, p_purpose text, p_operator text, p_trace text, p_mode text, p_now timestamp with time zone) OWNER TO larder_owner;
CREATE FUNCTION public.close_suggestion_v1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
begin
  update public.kb_suggestions set state = 'closed' where event_id = new.id and state = 'approved';
  return null;
end
$$;
ALTER FUNCTION public.close_suggestion_v1() OWNER TO larder_reader;
CREATE FUNCTION public.dispatch_events_v1(p_now timestamp with time zone, p_tenants uuid[], p_caps integer[], p_nights date[], p_next_nights timestamp with time zone[], p_per_tenant integer, p_limit integer) RETURNS TABLE(event_id uuid, tenant_id uuid, correlation_id text)
    LANGUAGE plpgsql
    AS $$
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
ALTER FUNCTION public.dispatch_events_v1(p_now timestamp with time zone, p_tenants uuid[], p_caps integer[], p_nights date[], p_next_nights timestamp with time zone[], p_per_tenant integer, p_limit integer) OWNER TO larder_owner;
CREATE FUNCTION public.drop_evaluations_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from policy_evaluations where tenant_id = old.tenant_id and kind = old.kind and day = old.day;
  return old;
end
$$;
ALTER FUNCTION public.drop_evaluations_v1() OWNER TO larder_owner;
CREATE FUNCTION public.drop_finished_work_v1(p_after uuid, p_before timestamp with time zone, p_now timestamp with time zone, p_sources integer, p_rows integer) RETURNS TABLE(last_source uuid, events integer, suggestions integer, held_texts integer)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'public'
    AS $$
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
ALTER FUNCTION public.drop_finished_work_v1(p_after uuid, p_before timestamp with time zone, p_now timestamp with time zone, p_sources integer, p_rows integer) OWNER TO larder_reader;
CREATE FUNCTION public.erase_chunk_v1(p_source uuid, p_hash text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
declare
  v_tenant uuid := nullif(current_setting('larder.tenant_id', true), '')::uuid;
  v_body text := (
    select substr(c.text, c.overlap + 1) from kb_chunks c
     where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash and not c.forgotten limit 1);
  v_parts text[] := parts_of_v1(v_body);
  v_erased integer;
begin
  if v_body is null then
    return 0;
  end if;
  delete from embedding_cache e using kb_chunks c
   where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash
     and e.text_hash = sha256(convert_to(c.text, 'UTF8'));
  delete from kb_held_texts h where h.tenant_id = v_tenant and h.source_id = p_source and says_part_v1(h.text, v_parts);
  -- Titles and descriptions may say it again, and so may a text that a gate stopped. A deposit that nobody has decided on
  -- is another text unless it says all of it.
  update kb_versions set title = null, description = null where tenant_id = v_tenant and source_id = p_source;
  update kb_sources set name = uri
   where tenant_id = v_tenant and id = p_source and type <> 'url' and length(name) >= 24 and position(name in v_body) > 0;
  update quarantine q set text = '[forgotten]', title = null,
         state = case q.state when 'held' then 'dropped' else q.state end
   where q.tenant_id = v_tenant and (q.source_id = p_source or q.source_id is null)
     and case when q.source_id is null and q.state = 'held' then position(v_body in q.text) > 0
              else says_part_v1(q.text, v_parts) end;
  delete from knowledge_cache where tenant_id = v_tenant;
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
ALTER FUNCTION public.erase_chunk_v1(p_source uuid, p_hash text) OWNER TO larder_reader;
CREATE TABLE public.knowledge_consumers (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    capabilities text[] DEFAULT '{}'::text[] NOT NULL,
    origins text[] DEFAULT '{}'::text[] NOT NULL,
    token_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT assistants_have_capabilities CHECK (((kind = 'assistant'::text) OR (capabilities = '{}'::text[]))),
    CONSTRAINT knowledge_consumers_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'assistant'::text, 'widget'::text]))),
    CONSTRAINT knowledge_consumers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT public_reads_alone CHECK ((capabilities <@ ARRAY['knowledge:read_public'::text])),
    CONSTRAINT widgets_have_origins CHECK (((kind = 'widget'::text) = (origins <> '{}'::text[])))
);
ALTER TABLE ONLY public.knowledge_consumers FORCE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_consumers OWNER TO larder_owner;
CREATE FUNCTION public.find_origin_v1(p_origin text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM public.knowledge_consumers c
           WHERE ((c.kind = 'widget'::text) AND c.active AND (c.origins @> ARRAY[find_origin_v1.p_origin])))) AS "exists";
END;
ALTER FUNCTION public.find_origin_v1(p_origin text) OWNER TO larder_reader;
CREATE TABLE public.knowledge_providers (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    base_url text NOT NULL,
    exposure_profile text NOT NULL,
    secret bytea NOT NULL,
    secret_key_id text NOT NULL,
    previous_secret bytea,
    previous_secret_key_id text,
    previous_secret_until timestamp with time zone,
    secret_rotated_at timestamp with time zone,
    module text,
    capabilities text[] DEFAULT '{}'::text[] NOT NULL,
    contract_version integer DEFAULT 1 NOT NULL,
    priority integer DEFAULT 100 NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    allow_private_network boolean DEFAULT false NOT NULL,
    send_conversation_id boolean DEFAULT false NOT NULL,
    config_generation integer DEFAULT 1 NOT NULL,
    label_warnings bigint DEFAULT 0 NOT NULL,
    last_label_warning_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT conversations_stay_inside CHECK (((NOT send_conversation_id) OR (exposure_profile = 'agent_only'::text))),
    CONSTRAINT knowledge_providers_contract_version_check CHECK ((contract_version = 1)),
    CONSTRAINT knowledge_providers_exposure_profile_check CHECK ((exposure_profile = ANY (ARRAY['customer_safe'::text, 'agent_only'::text]))),
    CONSTRAINT knowledge_providers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT knowledge_providers_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'auto_disabled'::text]))),
    CONSTRAINT previous_secret_is_whole CHECK (((num_nulls(previous_secret, previous_secret_key_id) = ANY (ARRAY[0, 2])) AND ((previous_secret IS NULL) OR (previous_secret_until IS NOT NULL))))
);
ALTER TABLE ONLY public.knowledge_providers FORCE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_providers OWNER TO larder_owner;
CREATE TABLE public.tenants (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    night_start time without time zone DEFAULT '22:00:00'::time without time zone NOT NULL,
    night_end time without time zone DEFAULT '06:00:00'::time without time zone NOT NULL,
    nightly_job_cap integer DEFAULT 50 NOT NULL,
    mutations_per_hour integer,
    created_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    firewall_mode text,
    memory_require_approval boolean DEFAULT false NOT NULL,
    CONSTRAINT tenants_mutations_per_hour_check CHECK ((mutations_per_hour > 0)),
    CONSTRAINT tenants_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT tenants_nightly_job_cap_check CHECK (((nightly_job_cap >= 1) AND (nightly_job_cap <= 10000)))
);
ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tenants OWNER TO larder_owner;
CREATE FUNCTION public.find_own_registration_v1(p_id uuid) RETURNS TABLE(id uuid, tenant_id uuid, tenant_enabled boolean)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'public'
    BEGIN ATOMIC
 SELECT p.id,
     p.tenant_id,
     t.enabled
    FROM (public.knowledge_providers p
      JOIN public.tenants t ON ((t.id = p.tenant_id)))
   WHERE ((p.id = find_own_registration_v1.p_id) AND (p.module = 'larder'::text));
END;
ALTER FUNCTION public.find_own_registration_v1(p_id uuid) OWNER TO larder_reader;
CREATE TABLE public.api_tokens (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    class text NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    operator_name text,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    purposes text[],
    CONSTRAINT api_tokens_class_check CHECK ((class = ANY (ARRAY['api'::text, 'admin'::text, 'agent'::text, 'assistant'::text, 'widget'::text]))),
    CONSTRAINT api_tokens_token_hash_check CHECK ((length(token_hash) = 32))
);
ALTER TABLE ONLY public.api_tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE public.api_tokens OWNER TO larder_owner;
CREATE FUNCTION public.find_token_by_id_v1(p_id uuid) RETURNS TABLE(token_id uuid, tenant_id uuid, class text, operator_name text, tenant_enabled boolean, roles text[], purposes text[], firewall_mode text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'public'
    BEGIN ATOMIC
 SELECT t.id,
     t.tenant_id,
     t.class,
     t.operator_name,
     o.enabled,
     t.roles,
     t.purposes,
     o.firewall_mode
    FROM (public.api_tokens t
      JOIN public.tenants o ON ((o.id = t.tenant_id)))
   WHERE ((t.id = find_token_by_id_v1.p_id) AND (t.revoked_at IS NULL));
END;
ALTER FUNCTION public.find_token_by_id_v1(p_id uuid) OWNER TO larder_reader;
CREATE FUNCTION public.find_token_v1(p_hash bytea) RETURNS TABLE(token_id uuid, tenant_id uuid, class text, operator_name text, token_hash bytea, tenant_enabled boolean)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'public'
    BEGIN ATOMIC
 SELECT t.id,
     t.tenant_id,
     t.class,
     t.operator_name,
     t.token_hash,
     o.enabled
    FROM (public.api_tokens t
      JOIN public.tenants o ON ((o.id = t.tenant_id)))
   WHERE ((t.token_hash = find_token_v1.p_hash) AND (t.revoked_at IS NULL));
END;
ALTER FUNCTION public.find_token_v1(p_hash bytea) OWNER TO larder_reader;
CREATE FUNCTION public.find_token_v2(p_hash bytea) RETURNS TABLE(token_id uuid, tenant_id uuid, class text, operator_name text, token_hash bytea, tenant_enabled boolean, roles text[], purposes text[], firewall_mode text)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'pg_catalog', 'public'
    BEGIN ATOMIC
 SELECT t.id,
     t.tenant_id,
     t.class,
     t.operator_name,
     t.token_hash,
     o.enabled,
     t.roles,
     t.purposes,
     o.firewall_mode
    FROM (public.api_tokens t
      JOIN public.tenants o ON ((o.id = t.tenant_id)))
   WHERE ((t.token_hash = find_token_v2.p_hash) AND (t.revoked_at IS NULL));
END;
ALTER FUNCTION public.find_token_v2(p_hash bytea) OWNER TO larder_reader;
CREATE FUNCTION public.finish_refresh_v1(p_event uuid, p_token uuid, p_now timestamp with time zone, p_base_version integer, p_check jsonb, p_version jsonb, p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[], p_reuse bigint[], p_embeddings text[], p_model text) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
ALTER FUNCTION public.finish_refresh_v1(p_event uuid, p_token uuid, p_now timestamp with time zone, p_base_version integer, p_check jsonb, p_version jsonb, p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[], p_reuse bigint[], p_embeddings text[], p_model text) OWNER TO larder_owner;
CREATE FUNCTION public.finish_refresh_v2(p_event uuid, p_token uuid, p_now timestamp with time zone, p_base_version integer, p_check jsonb, p_version jsonb, p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[], p_reuse bigint[], p_embeddings text[], p_model text, p_heirs text[], p_parents text[], p_policy_epoch timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
ALTER FUNCTION public.finish_refresh_v2(p_event uuid, p_token uuid, p_now timestamp with time zone, p_base_version integer, p_check jsonb, p_version jsonb, p_close bigint[], p_ids uuid[], p_indexes integer[], p_overlaps integer[], p_texts text[], p_hashes text[], p_reuse bigint[], p_embeddings text[], p_model text, p_heirs text[], p_parents text[], p_policy_epoch timestamp with time zone) OWNER TO larder_owner;
CREATE TABLE public.chunk_policies (
    source_id uuid NOT NULL,
    content_hash text NOT NULL,
    tenant_id uuid NOT NULL,
    sensitivity text DEFAULT ''::text NOT NULL,
    expires_at timestamp with time zone,
    permitted_roles text[],
    allowed_purposes text[],
    content_class text DEFAULT ''::text NOT NULL,
    validation_status text DEFAULT ''::text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.chunk_policies FORCE ROW LEVEL SECURITY;
ALTER TABLE public.chunk_policies OWNER TO larder_owner;
CREATE TABLE public.chunk_recalls (
    source_id uuid NOT NULL,
    content_hash text NOT NULL,
    tenant_id uuid NOT NULL,
    last_recalled_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.chunk_recalls FORCE ROW LEVEL SECURITY;
ALTER TABLE public.chunk_recalls OWNER TO larder_owner;
CREATE TABLE public.kb_chunks (
    row_id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    chunk_id uuid NOT NULL,
    chunk_index integer NOT NULL,
    overlap integer NOT NULL,
    text text NOT NULL,
    content_hash text NOT NULL,
    embedding_model text NOT NULL,
    embedding public.vector(384) NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, substr(text, (overlap + 1)))) STORED,
    system_time tstzrange NOT NULL,
    forgotten boolean DEFAULT false NOT NULL,
    CONSTRAINT kb_chunks_chunk_index_check CHECK ((chunk_index >= 0)),
    CONSTRAINT kb_chunks_overlap_check CHECK (((overlap >= 0) AND (overlap <= 150))),
    CONSTRAINT kb_chunks_system_time_check CHECK (((NOT isempty(system_time)) AND lower_inc(system_time) AND (NOT upper_inc(system_time)))),
    CONSTRAINT kb_chunks_text_check CHECK (((length(text) >= 1) AND (length(text) <= 1200)))
);
ALTER TABLE ONLY public.kb_chunks ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE ONLY public.kb_chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_chunks OWNER TO larder_owner;
CREATE TABLE public.kb_sources (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    uri text NOT NULL,
    type text DEFAULT 'url'::text NOT NULL,
    name text NOT NULL,
    refresh_ttl_seconds integer DEFAULT 604800 NOT NULL,
    active boolean DEFAULT true NOT NULL,
    published boolean DEFAULT false NOT NULL,
    keep_hidden_text boolean DEFAULT false NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    etag text,
    last_modified text,
    last_attempt_at timestamp with time zone,
    last_checked_at timestamp with time zone,
    last_changed_at timestamp with time zone,
    last_unconditional_at timestamp with time zone,
    last_status text,
    last_error text,
    gone_in_a_row integer DEFAULT 0 NOT NULL,
    body_hash text,
    pipeline text,
    redirect_to text,
    redirect_since timestamp with time zone,
    current_version integer,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    provenance text DEFAULT 'external_fetch'::text NOT NULL,
    producer text DEFAULT ''::text NOT NULL,
    trust integer DEFAULT 30 NOT NULL,
    sensitivity text DEFAULT 'public'::text NOT NULL,
    expires_at timestamp with time zone,
    permitted_roles text[],
    allowed_purposes text[],
    CONSTRAINT kb_sources_refresh_ttl_seconds_check CHECK (((refresh_ttl_seconds >= 300) AND (refresh_ttl_seconds <= 31536000))),
    CONSTRAINT kb_sources_trust_check CHECK (((trust >= 0) AND (trust <= 100))),
    CONSTRAINT kb_sources_type_check CHECK ((type = ANY (ARRAY['url'::text, 'note'::text, 'document'::text])))
);
ALTER TABLE ONLY public.kb_sources FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_sources OWNER TO larder_owner;
CREATE TABLE public.policy_evaluations (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    kind text NOT NULL,
    number bigint NOT NULL,
    chunk_id uuid NOT NULL,
    source_id uuid NOT NULL,
    version integer,
    role text NOT NULL,
    purpose text NOT NULL,
    operator text NOT NULL,
    trace_id text NOT NULL,
    decision text NOT NULL,
    reason text NOT NULL,
    policy_digest text NOT NULL,
    mode text NOT NULL,
    evaluated_at timestamp with time zone NOT NULL,
    row_hash bytea NOT NULL,
    CONSTRAINT policy_evaluations_kind_check CHECK ((kind = ANY (ARRAY['allow'::text, 'block'::text])))
);
ALTER TABLE ONLY public.policy_evaluations FORCE ROW LEVEL SECURITY;
ALTER TABLE public.policy_evaluations OWNER TO larder_owner;
CREATE FUNCTION public.finite_chunks_v1(p_tenant uuid) RETURNS TABLE(source_id uuid, content_hash text, chunk_id uuid, expires_at timestamp with time zone, first_seen_at timestamp with time zone, last_recalled_at timestamp with time zone)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT f.source_id,
     f.content_hash,
     f.chunk_ids[1] AS chunk_ids,
     f.expires_at,
     ( SELECT min(lower(h.system_time)) AS min
            FROM public.kb_chunks h
           WHERE ((h.source_id = f.source_id) AND (h.content_hash = f.content_hash))) AS min,
     GREATEST(( SELECT r.last_recalled_at
            FROM public.chunk_recalls r
           WHERE ((r.source_id = f.source_id) AND (r.content_hash = f.content_hash))), ( SELECT max(e.evaluated_at) AS max
            FROM unnest(f.chunk_ids) i(chunk_id),
             LATERAL ( SELECT v.evaluated_at
                    FROM public.policy_evaluations v
                   WHERE ((v.tenant_id = finite_chunks_v1.p_tenant) AND (v.chunk_id = i.chunk_id) AND ((v.decision = 'allow'::text) OR ((v.mode <> 'enforce'::text) AND (v.decision <> 'block_tenant_mismatch'::text) AND (v.reason <> 'the chunk is refuted'::text))))
                   ORDER BY v.evaluated_at DESC
                  LIMIT 1) e)) AS "greatest"
    FROM ( SELECT c.source_id,
             c.content_hash,
             array_agg(c.chunk_id ORDER BY c.chunk_index) AS chunk_ids,
             LEAST(min(s.expires_at), min(p.expires_at)) AS expires_at
            FROM (((( SELECT o.id AS source_id,
                     NULL::text AS content_hash
                    FROM public.kb_sources o
                   WHERE ((o.tenant_id = finite_chunks_v1.p_tenant) AND (o.expires_at IS NOT NULL))
                 UNION ALL
                  SELECT q.source_id,
                     q.content_hash
                    FROM public.chunk_policies q
                   WHERE ((q.tenant_id = finite_chunks_v1.p_tenant) AND (q.expires_at IS NOT NULL))) e
              JOIN public.kb_chunks c ON (((c.source_id = e.source_id) AND upper_inf(c.system_time) AND (NOT c.forgotten) AND ((e.content_hash IS NULL) OR (c.content_hash = e.content_hash)))))
              JOIN public.kb_sources s ON ((s.id = c.source_id)))
              LEFT JOIN public.chunk_policies p ON (((p.source_id = c.source_id) AND (p.content_hash = c.content_hash))))
           GROUP BY c.source_id, c.content_hash) f;
END;
ALTER FUNCTION public.finite_chunks_v1(p_tenant uuid) OWNER TO larder_owner;
CREATE FUNCTION public.forget_search_writes_v1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
begin
  delete from public.search_writes where tenant_id = old.id;
  return null;
end
$$;
ALTER FUNCTION public.forget_search_writes_v1() OWNER TO larder_reader;
CREATE FUNCTION public.inherit_policies_v1(p_source uuid, p_new text[], p_old text[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
      continue when v_policy is not distinct from v_own;
    end if;
    insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, expires_at, permitted_roles,
                                allowed_purposes, content_class, validation_status, updated_at)
      values (p_source, v_pair.new_hash, v_policy.tenant_id, v_policy.sensitivity, v_policy.expires_at,
              v_policy.permitted_roles, v_policy.allowed_purposes, v_policy.content_class, v_policy.validation_status,
              greatest(p_now, (select max(l.updated_at) from chunk_policies l where l.source_id = p_source)))
      on conflict (source_id, content_hash) do update
        set sensitivity = excluded.sensitivity, expires_at = excluded.expires_at,
            permitted_roles = excluded.permitted_roles, allowed_purposes = excluded.allowed_purposes,
            content_class = excluded.content_class, validation_status = excluded.validation_status,
            updated_at = excluded.updated_at;
  end loop;
end
$$;
ALTER FUNCTION public.inherit_policies_v1(p_source uuid, p_new text[], p_old text[], p_now timestamp with time zone) OWNER TO larder_owner;
CREATE FUNCTION public.lapse_consolidation_v1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
begin
  with lapsed as (
    update public.consolidation_proposals
       set state = 'lapsed', reason = 'forgotten', text = null, decided_at = new.forgotten_at
     where state in ('writing', 'open') and tenant_id = new.tenant_id
       and ((kept_source_id = new.source_id and kept_hash = new.content_hash)
            or (other_source_id = new.source_id and other_hash = new.content_hash))
    returning id
  ), noted as (
    insert into public.admin_audit (tenant_id, at, action, target, after)
      select new.tenant_id, new.forgotten_at, 'consolidation.lapsed', l.id::text, '{"reason": "forgotten"}' from lapsed l
  )
  delete from public.consolidation_work where proposal_id in (select id from lapsed);
  return null;
end
$$;
ALTER FUNCTION public.lapse_consolidation_v1() OWNER TO larder_reader;
CREATE TABLE public.kb_events (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    kind text DEFAULT 'KB_REFRESH_SOURCE'::text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    night boolean NOT NULL,
    available_at timestamp with time zone NOT NULL,
    approved_at timestamp with time zone NOT NULL,
    source_generation integer NOT NULL,
    held_text_id uuid,
    correlation_id text,
    counted_night date,
    attempts integer DEFAULT 0 NOT NULL,
    leases integer DEFAULT 0 NOT NULL,
    dispatched_at timestamp with time zone,
    lease_token uuid,
    lease_until timestamp with time zone,
    outcome text,
    error text,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT kb_events_kind_check CHECK ((kind = ANY (ARRAY['KB_REFRESH_SOURCE'::text, 'KB_PUBLISH_REVIEW'::text]))),
    CONSTRAINT kb_events_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'dispatched'::text, 'running'::text, 'done'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])))
);
ALTER TABLE ONLY public.kb_events FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_events OWNER TO larder_owner;
CREATE FUNCTION public.lease_event_v1(p_event uuid, p_token uuid, p_now timestamp with time zone, p_until timestamp with time zone, p_max_leases integer) RETURNS SETOF public.kb_events
    LANGUAGE plpgsql
    AS $$
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
ALTER FUNCTION public.lease_event_v1(p_event uuid, p_token uuid, p_now timestamp with time zone, p_until timestamp with time zone, p_max_leases integer) OWNER TO larder_owner;
CREATE FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
 SELECT ARRAY( SELECT DISTINCT n.name
            FROM unnest(COALESCE(names_of_both_v1.p_one, names_of_both_v1.p_other)) n(name)
           WHERE (n.name = ANY (COALESCE(names_of_both_v1.p_other, names_of_both_v1.p_one)))
           ORDER BY n.name) AS "array";
END;
ALTER FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) OWNER TO larder_owner;
CREATE FUNCTION public.note_search_write_v1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$
begin
  insert into public.search_writes (tenant_id, xid)
    select t.id, pg_current_xact_id() from public.tenants t  -- not of one that is being deleted
     where t.id in (select c.tenant_id from changed c)
  on conflict do nothing;
  return null;
end
$$;
ALTER FUNCTION public.note_search_write_v1() OWNER TO larder_reader;
CREATE FUNCTION public.parts_of_v1(p_text text) RETURNS text[]
    LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
 SELECT (array_agg(p.part) || parts_of_v1.p_text)
    FROM regexp_split_to_table(parts_of_v1.p_text, '[.!?]?\s*\n\s*|[.!?]\s+'::text) p(part)
   WHERE (length(p.part) >= 24);
END;
ALTER FUNCTION public.parts_of_v1(p_text text) OWNER TO larder_owner;
CREATE FUNCTION public.tier_rank_v1(p_tier text) RETURNS integer
    LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
 SELECT
         CASE COALESCE(NULLIF(p_tier, ''::text), 'internal'::text)
             WHEN 'public'::text THEN 1
             WHEN 'internal'::text THEN 2
             WHEN 'confidential'::text THEN 3
             ELSE 4
         END AS "case";
END;
ALTER FUNCTION public.tier_rank_v1(p_tier text) OWNER TO larder_owner;
CREATE FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) RETURNS jsonb
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT jsonb_build_array(
         CASE
             WHEN (p_class = 'credentials'::text) THEN 4
             WHEN (p_own_sensitivity <> ''::text) THEN GREATEST(public.tier_rank_v1(p_sensitivity), public.tier_rank_v1(p_own_sensitivity))
             ELSE public.tier_rank_v1(p_sensitivity)
         END, EXTRACT(epoch FROM LEAST(p_expires_at, p_own_expires_at)),
         CASE
             WHEN ((p_roles IS NULL) AND (p_own_roles IS NULL)) THEN NULL::text[]
             ELSE public.names_of_both_v1(p_roles, p_own_roles)
         END,
         CASE
             WHEN ((p_purposes IS NULL) AND (p_own_purposes IS NULL)) THEN NULL::text[]
             ELSE public.names_of_both_v1(p_purposes, p_own_purposes)
         END, (NOT (p_class IS DISTINCT FROM 'credentials'::text)), COALESCE(p_status, ''::text)) AS jsonb_build_array;
END;
ALTER FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) OWNER TO larder_owner;
CREATE FUNCTION public.query_words_v1(p_query text) RETURNS tsquery
    LANGUAGE plpgsql IMMUTABLE STRICT
    SET search_path TO 'pg_catalog', 'public'
    AS $$
begin
  return websearch_to_tsquery('english', p_query);
exception when internal_error or program_limit_exceeded or statement_too_complex then
  return plainto_tsquery('english', p_query);
end
$$;
ALTER FUNCTION public.query_words_v1(p_query text) OWNER TO larder_owner;
CREATE FUNCTION public.says_part_v1(p_text text, p_parts text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
 SELECT COALESCE(bool_or((POSITION((p.part) IN (says_part_v1.p_text)) > 0)), false) AS "coalesce"
    FROM unnest(says_part_v1.p_parts) p(part);
END;
ALTER FUNCTION public.says_part_v1(p_text text, p_parts text[]) OWNER TO larder_owner;
CREATE FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) RETURNS TABLE(row_id bigint, rank real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'public'
    AS $$
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
ALTER FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) OWNER TO larder_reader;
CREATE FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) RETURNS TABLE(row_id bigint, rank real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'public'
    AS $$
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
ALTER FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) OWNER TO larder_reader;
CREATE FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) RETURNS TABLE(row_id bigint, rank real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'pg_catalog', 'public'
    AS $$
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
       and (c.source_id, c.content_hash) not in (
         select x.source_id, x.content_hash from unnest(p_passed_sources, p_passed_hashes) as x (source_id, content_hash))
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
         and (c.source_id, c.content_hash) not in (
           select x.source_id, x.content_hash from unnest(p_passed_sources, p_passed_hashes) as x (source_id, content_hash))
       limit 2000
    )
    select k.row_id, ts_rank_cd(k.words, v_any) from candidate k order by 2 desc, 1 limit p_limit;
end
$$;
ALTER FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) OWNER TO larder_reader;
CREATE FUNCTION public.stricter_v1(p_one public.chunk_policies, p_other public.chunk_policies) RETURNS public.chunk_policies
    LANGUAGE plpgsql IMMUTABLE
    AS $$
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
ALTER FUNCTION public.stricter_v1(p_one public.chunk_policies, p_other public.chunk_policies) OWNER TO larder_owner;
CREATE TABLE public.superseded_chunks (
    row_id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    content_hash text NOT NULL,
    kept_source_id uuid NOT NULL,
    kept_chunk_id uuid NOT NULL,
    proposal_id uuid NOT NULL,
    period tstzrange NOT NULL,
    CONSTRAINT superseded_chunks_period_check CHECK (((NOT isempty(period)) AND lower_inc(period) AND (NOT upper_inc(period))))
);
ALTER TABLE ONLY public.superseded_chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE public.superseded_chunks OWNER TO larder_owner;
CREATE FUNCTION public.superseded_v1(p_sources uuid[]) RETURNS TABLE(source_id uuid, content_hash text)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT x.source_id,
     x.content_hash
    FROM (public.superseded_chunks x
      JOIN public.kb_sources o ON (((o.id = x.kept_source_id) AND o.active)))
   WHERE ((x.tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND upper_inf(x.period) AND ((superseded_v1.p_sources IS NULL) OR (x.kept_source_id = ANY (superseded_v1.p_sources))) AND (EXISTS ( SELECT
            FROM public.kb_chunks k
           WHERE ((k.chunk_id = x.kept_chunk_id) AND upper_inf(k.system_time) AND (NOT k.forgotten)))));
END;
ALTER FUNCTION public.superseded_v1(p_sources uuid[]) OWNER TO larder_owner;
CREATE FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) RETURNS TABLE(source_id uuid, content_hash text)
    LANGUAGE plpgsql STABLE ROWS 50
    AS $$
begin
  return query
  select x.source_id, x.content_hash
    from public.superseded_chunks x
    join public.kb_sources o on o.id = x.kept_source_id and o.active
    join public.kb_sources s on s.id = x.source_id
    left join public.chunk_policies p on p.source_id = x.source_id and p.content_hash = x.content_hash
   cross join lateral (
     select k.content_hash from public.kb_chunks k
      where k.chunk_id = x.kept_chunk_id and not k.forgotten
        and case when p_at is null then upper_inf(k.system_time) else k.system_time @> p_at end
      limit 1) k
    left join public.chunk_policies q on q.source_id = x.kept_source_id and q.content_hash = k.content_hash
   where x.tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
     and case when p_at is null then upper_inf(x.period) else x.period @> p_at end
     and (p_sources is null or x.kept_source_id = any (p_sources))
     and case  -- the same columns mean the same, and are soon compared
       when (s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, p.sensitivity, p.expires_at,
             p.permitted_roles, p.allowed_purposes, p.content_class, p.validation_status) is not distinct from
            (o.sensitivity, o.expires_at, o.permitted_roles, o.allowed_purposes, q.sensitivity, q.expires_at,
             q.permitted_roles, q.allowed_purposes, q.content_class, q.validation_status) then true
       else public.policy_rules_v1(s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, p.sensitivity,
                                   p.expires_at, p.permitted_roles, p.allowed_purposes, p.content_class, p.validation_status)
            = public.policy_rules_v1(o.sensitivity, o.expires_at, o.permitted_roles, o.allowed_purposes, q.sensitivity,
                                     q.expires_at, q.permitted_roles, q.allowed_purposes, q.content_class, q.validation_status)
       end;
end
$$;
ALTER FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) OWNER TO larder_owner;
CREATE FUNCTION public.wake_tenant_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  insert into kb_run_queue as q (tenant_id, next_at) values (new.tenant_id, new.available_at)
  on conflict (tenant_id) do update set next_at = least(q.next_at, excluded.next_at)
   where q.next_at > excluded.next_at;
  return null;
end
$$;
ALTER FUNCTION public.wake_tenant_v1() OWNER TO larder_owner;
CREATE TABLE public.admin_audit (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    token_id uuid,
    operator text,
    action text NOT NULL,
    target text NOT NULL,
    before jsonb,
    after jsonb,
    correlation_id text
);
ALTER TABLE ONLY public.admin_audit FORCE ROW LEVEL SECURITY;
ALTER TABLE public.admin_audit OWNER TO larder_owner;
CREATE TABLE public.consolidation_proposals (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    pair text NOT NULL,
    similarity double precision NOT NULL,
    kept_source_id uuid NOT NULL,
    kept_hash text NOT NULL,
    kept_chunk_id uuid NOT NULL,
    other_source_id uuid NOT NULL,
    other_hash text NOT NULL,
    other_chunk_id uuid NOT NULL,
    policy_digest text NOT NULL,
    text text,
    redactions integer DEFAULT 0 NOT NULL,
    model text,
    reason text,
    deposited_source_id uuid,
    quarantine_id uuid,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decided_by uuid,
    CONSTRAINT consolidation_proposals_kind_check CHECK ((kind = ANY (ARRAY['extractive'::text, 'written'::text]))),
    CONSTRAINT consolidation_proposals_state_check CHECK ((state = ANY (ARRAY['writing'::text, 'open'::text, 'accepted'::text, 'rejected'::text, 'undone'::text, 'lapsed'::text, 'failed'::text])))
);
ALTER TABLE ONLY public.consolidation_proposals FORCE ROW LEVEL SECURITY;
ALTER TABLE public.consolidation_proposals OWNER TO larder_owner;
CREATE TABLE public.consolidation_work (
    proposal_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    correlation_id text,
    created_at timestamp with time zone NOT NULL,
    dispatched_at timestamp with time zone,
    lease_token uuid,
    lease_until timestamp with time zone,
    leases integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.consolidation_work FORCE ROW LEVEL SECURITY;
ALTER TABLE public.consolidation_work OWNER TO larder_owner;
CREATE TABLE public.deletion_requests (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    content_hash text NOT NULL,
    chunk_id uuid NOT NULL,
    policy_digest text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_recalled_at timestamp with time zone,
    state text DEFAULT 'open'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    lapses_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decided_by uuid,
    CONSTRAINT deletion_requests_state_check CHECK ((state = ANY (ARRAY['open'::text, 'approved'::text, 'refused'::text, 'lapsed'::text])))
);
ALTER TABLE ONLY public.deletion_requests FORCE ROW LEVEL SECURITY;
ALTER TABLE public.deletion_requests OWNER TO larder_owner;
CREATE TABLE public.deny_patterns (
    tenant_id uuid NOT NULL,
    pattern text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT deny_patterns_pattern_check CHECK (((length(pattern) >= 1) AND (length(pattern) <= 1000)))
);
ALTER TABLE ONLY public.deny_patterns FORCE ROW LEVEL SECURITY;
ALTER TABLE public.deny_patterns OWNER TO larder_owner;
CREATE TABLE public.embedding_cache (
    model_id text NOT NULL,
    text_hash bytea NOT NULL,
    embedding public.vector(384) NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.embedding_cache ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE public.embedding_cache OWNER TO larder_owner;
CREATE TABLE public.evaluation_segments (
    tenant_id uuid NOT NULL,
    day date NOT NULL,
    kind text NOT NULL,
    row_count bigint DEFAULT 0 NOT NULL,
    last_hash bytea NOT NULL,
    sealed_at timestamp with time zone,
    seal text,
    key_id text,
    dropped_at timestamp with time zone,
    CONSTRAINT evaluation_segments_kind_check CHECK ((kind = ANY (ARRAY['allow'::text, 'block'::text])))
);
ALTER TABLE ONLY public.evaluation_segments FORCE ROW LEVEL SECURITY;
ALTER TABLE public.evaluation_segments OWNER TO larder_owner;
CREATE TABLE public.host_leases (
    host text NOT NULL,
    lease_token uuid,
    lease_until timestamp with time zone NOT NULL,
    not_before timestamp with time zone NOT NULL
);
ALTER TABLE public.host_leases OWNER TO larder_owner;
CREATE TABLE public.ingest_log (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    deposit text NOT NULL,
    outcome text NOT NULL,
    gate text,
    reason text DEFAULT ''::text NOT NULL,
    redactions integer DEFAULT 0 NOT NULL,
    source_id uuid,
    correlation_id text
);
ALTER TABLE ONLY public.ingest_log FORCE ROW LEVEL SECURITY;
ALTER TABLE public.ingest_log OWNER TO larder_owner;
ALTER TABLE public.kb_chunks ALTER COLUMN row_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.kb_chunks_row_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.kb_held_texts (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    reason text NOT NULL,
    base_version integer,
    text text NOT NULL,
    title text,
    language text,
    description text,
    canonical_url text,
    final_url text NOT NULL,
    invisible_removed integer DEFAULT 0 NOT NULL,
    secrets_redacted integer DEFAULT 0 NOT NULL,
    extractor_version integer NOT NULL,
    secret_rules_version integer NOT NULL,
    fetched_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.kb_held_texts FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_held_texts OWNER TO larder_owner;
CREATE TABLE public.kb_night_use (
    tenant_id uuid NOT NULL,
    night_id date NOT NULL,
    used integer DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.kb_night_use FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_night_use OWNER TO larder_owner;
CREATE TABLE public.kb_run_queue (
    tenant_id uuid NOT NULL,
    next_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.kb_run_queue FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_run_queue OWNER TO larder_owner;
CREATE TABLE public.kb_suggestions (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    reason text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    held_text_id uuid,
    event_id uuid,
    stale_since timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    snoozed_until timestamp with time zone,
    decided_at timestamp with time zone,
    decided_by uuid,
    CONSTRAINT kb_suggestions_kind_check CHECK ((kind = ANY (ARRAY['refresh'::text, 'review_change'::text, 'change_uri'::text, 'merge'::text, 'gone'::text]))),
    CONSTRAINT kb_suggestions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'snoozed'::text, 'approved'::text, 'dismissed'::text, 'closed'::text])))
);
ALTER TABLE ONLY public.kb_suggestions FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_suggestions OWNER TO larder_owner;
CREATE TABLE public.kb_versions (
    source_id uuid NOT NULL,
    version integer NOT NULL,
    tenant_id uuid NOT NULL,
    system_time tstzrange NOT NULL,
    event_id uuid,
    content_hash text NOT NULL,
    title text,
    language text,
    description text,
    canonical_url text,
    final_url text NOT NULL,
    character_count integer NOT NULL,
    chunk_count integer NOT NULL,
    invisible_removed integer DEFAULT 0 NOT NULL,
    secrets_redacted integer DEFAULT 0 NOT NULL,
    extractor_version integer NOT NULL,
    chunker_version integer NOT NULL,
    secret_rules_version integer NOT NULL,
    fetched_at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT kb_versions_system_time_check CHECK (((NOT isempty(system_time)) AND lower_inc(system_time) AND (NOT upper_inc(system_time)))),
    CONSTRAINT kb_versions_version_check CHECK ((version > 0))
);
ALTER TABLE ONLY public.kb_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE public.kb_versions OWNER TO larder_owner;
CREATE TABLE public.knowledge_cache (
    provider_id uuid NOT NULL,
    key bytea NOT NULL,
    tenant_id uuid NOT NULL,
    results jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.knowledge_cache FORCE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_cache OWNER TO larder_owner;
CREATE TABLE public.knowledge_circuits (
    provider_id uuid NOT NULL,
    lane text NOT NULL,
    tenant_id uuid NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    transient_failures integer DEFAULT 0 NOT NULL,
    hard_failures integer DEFAULT 0 NOT NULL,
    pauses integer DEFAULT 0 NOT NULL,
    open_until timestamp with time zone,
    probe_until timestamp with time zone,
    stopped boolean DEFAULT false NOT NULL,
    last_failure text,
    last_reason text,
    last_failure_at timestamp with time zone,
    CONSTRAINT knowledge_circuits_lane_check CHECK ((lane = ANY (ARRAY['main'::text, 'widget'::text])))
);
ALTER TABLE ONLY public.knowledge_circuits FORCE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_circuits OWNER TO larder_owner;
CREATE TABLE public.knowledge_nonces (
    provider_id uuid NOT NULL,
    nonce text NOT NULL,
    tenant_id uuid NOT NULL,
    keep_until timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.knowledge_nonces FORCE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_nonces OWNER TO larder_owner;
CREATE TABLE public.mutation_windows (
    tenant_id uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    used integer NOT NULL
);
ALTER TABLE ONLY public.mutation_windows FORCE ROW LEVEL SECURITY;
ALTER TABLE public.mutation_windows OWNER TO larder_owner;
CREATE TABLE public.plans (
    name text NOT NULL,
    kb_sources integer NOT NULL,
    CONSTRAINT plans_kb_sources_check CHECK ((kb_sources >= 0))
);
ALTER TABLE public.plans OWNER TO larder_owner;
CREATE TABLE public.quarantine (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    source_id uuid,
    deposit text NOT NULL,
    gate text NOT NULL,
    reason text NOT NULL,
    title text,
    text text NOT NULL,
    policy jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text DEFAULT 'held'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone,
    decided_by uuid,
    CONSTRAINT quarantine_state_check CHECK ((state = ANY (ARRAY['held'::text, 'released'::text, 'dropped'::text])))
);
ALTER TABLE ONLY public.quarantine FORCE ROW LEVEL SECURITY;
ALTER TABLE public.quarantine OWNER TO larder_owner;
CREATE TABLE public.scheduler_state (
    only_row boolean DEFAULT true NOT NULL,
    last_tick_at timestamp with time zone NOT NULL,
    queue_depth integer,
    dead_letters integer,
    measured_at timestamp with time zone,
    dropped_upto uuid,
    round_began_on date,
    CONSTRAINT scheduler_state_only_row_check CHECK (only_row)
);
ALTER TABLE public.scheduler_state OWNER TO larder_owner;
CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE public.schema_migrations OWNER TO larder_owner;
CREATE TABLE public.search_cache (
    tenant_id uuid NOT NULL,
    key bytea NOT NULL,
    row_ids bigint[] NOT NULL,
    scores double precision[] NOT NULL,
    snapshot pg_snapshot NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.search_cache FORCE ROW LEVEL SECURITY;
ALTER TABLE public.search_cache OWNER TO larder_owner;
CREATE TABLE public.search_writes (
    tenant_id uuid NOT NULL,
    xid xid8 NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.search_writes FORCE ROW LEVEL SECURITY;
ALTER TABLE public.search_writes OWNER TO larder_owner;
ALTER TABLE public.superseded_chunks ALTER COLUMN row_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.superseded_chunks_row_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tombstones (
    source_id uuid NOT NULL,
    content_hash text NOT NULL,
    tenant_id uuid NOT NULL,
    forgotten_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.tombstones FORCE ROW LEVEL SECURITY;
ALTER TABLE public.tombstones OWNER TO larder_owner;
CREATE TABLE public.widget_windows (
    tenant_id uuid NOT NULL,
    bucket text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    used integer NOT NULL
);
ALTER TABLE ONLY public.widget_windows FORCE ROW LEVEL SECURITY;
ALTER TABLE public.widget_windows OWNER TO larder_owner;
ALTER TABLE ONLY public.admin_audit
    ADD CONSTRAINT admin_audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.chunk_policies
    ADD CONSTRAINT chunk_policies_pkey PRIMARY KEY (source_id, content_hash);
ALTER TABLE ONLY public.chunk_recalls
    ADD CONSTRAINT chunk_recalls_pkey PRIMARY KEY (source_id, content_hash);
ALTER TABLE ONLY public.consolidation_proposals
    ADD CONSTRAINT consolidation_proposals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.consolidation_work
    ADD CONSTRAINT consolidation_work_pkey PRIMARY KEY (proposal_id);
ALTER TABLE ONLY public.deletion_requests
    ADD CONSTRAINT deletion_requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.deny_patterns
    ADD CONSTRAINT deny_patterns_pkey PRIMARY KEY (tenant_id, pattern);
ALTER TABLE ONLY public.embedding_cache
    ADD CONSTRAINT embedding_cache_pkey PRIMARY KEY (model_id, text_hash);
ALTER TABLE ONLY public.evaluation_segments
    ADD CONSTRAINT evaluation_segments_pkey PRIMARY KEY (tenant_id, kind, day);
ALTER TABLE ONLY public.host_leases
    ADD CONSTRAINT host_leases_pkey PRIMARY KEY (host);
ALTER TABLE ONLY public.ingest_log
    ADD CONSTRAINT ingest_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kb_chunks
    ADD CONSTRAINT kb_chunks_pkey PRIMARY KEY (row_id);
ALTER TABLE ONLY public.kb_events
    ADD CONSTRAINT kb_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kb_held_texts
    ADD CONSTRAINT kb_held_texts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kb_night_use
    ADD CONSTRAINT kb_night_use_pkey PRIMARY KEY (tenant_id, night_id);
ALTER TABLE ONLY public.kb_run_queue
    ADD CONSTRAINT kb_run_queue_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.kb_sources
    ADD CONSTRAINT kb_sources_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kb_sources
    ADD CONSTRAINT kb_sources_tenant_id_id_key UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.kb_sources
    ADD CONSTRAINT kb_sources_tenant_id_uri_key UNIQUE (tenant_id, uri);
ALTER TABLE ONLY public.kb_suggestions
    ADD CONSTRAINT kb_suggestions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kb_versions
    ADD CONSTRAINT kb_versions_event_id_key UNIQUE (event_id);
ALTER TABLE ONLY public.kb_versions
    ADD CONSTRAINT kb_versions_pkey PRIMARY KEY (source_id, version);
ALTER TABLE ONLY public.knowledge_cache
    ADD CONSTRAINT knowledge_cache_pkey PRIMARY KEY (provider_id, key);
ALTER TABLE ONLY public.knowledge_circuits
    ADD CONSTRAINT knowledge_circuits_pkey PRIMARY KEY (provider_id, lane);
ALTER TABLE ONLY public.knowledge_consumers
    ADD CONSTRAINT knowledge_consumers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.knowledge_consumers
    ADD CONSTRAINT knowledge_consumers_tenant_id_kind_name_key UNIQUE (tenant_id, kind, name);
ALTER TABLE ONLY public.knowledge_consumers
    ADD CONSTRAINT knowledge_consumers_token_id_key UNIQUE (token_id);
ALTER TABLE ONLY public.knowledge_nonces
    ADD CONSTRAINT knowledge_nonces_pkey PRIMARY KEY (provider_id, nonce);
ALTER TABLE ONLY public.knowledge_providers
    ADD CONSTRAINT knowledge_providers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.knowledge_providers
    ADD CONSTRAINT knowledge_providers_tenant_id_name_key UNIQUE (tenant_id, name);
ALTER TABLE ONLY public.mutation_windows
    ADD CONSTRAINT mutation_windows_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.kb_versions
    ADD CONSTRAINT one_version_at_an_instant EXCLUDE USING gist (public.uuidrange(source_id, source_id, '[]'::text) WITH &&, system_time WITH &&);
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.policy_evaluations
    ADD CONSTRAINT policy_evaluations_pkey PRIMARY KEY (tenant_id, kind, day, number);
ALTER TABLE ONLY public.quarantine
    ADD CONSTRAINT quarantine_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.scheduler_state
    ADD CONSTRAINT scheduler_state_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.search_cache
    ADD CONSTRAINT search_cache_pkey PRIMARY KEY (tenant_id, key);
ALTER TABLE ONLY public.search_writes
    ADD CONSTRAINT search_writes_pkey PRIMARY KEY (tenant_id, xid);
ALTER TABLE ONLY public.superseded_chunks
    ADD CONSTRAINT superseded_chunks_pkey PRIMARY KEY (row_id);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_name_key UNIQUE (name);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (source_id, content_hash);
ALTER TABLE ONLY public.widget_windows
    ADD CONSTRAINT widget_windows_pkey PRIMARY KEY (tenant_id, bucket);
CREATE INDEX admin_audit_page ON public.admin_audit USING btree (tenant_id, at, id);
CREATE INDEX api_tokens_tenant ON public.api_tokens USING btree (tenant_id);
CREATE INDEX chunk_policies_finite ON public.chunk_policies USING btree (tenant_id) WHERE (expires_at IS NOT NULL);
CREATE INDEX chunk_policies_tenant ON public.chunk_policies USING btree (tenant_id);
CREATE INDEX chunk_recalls_tenant ON public.chunk_recalls USING btree (tenant_id);
CREATE INDEX consolidation_kept ON public.consolidation_proposals USING btree (kept_source_id, kept_hash);
CREATE UNIQUE INDEX consolidation_one_way ON public.consolidation_proposals USING btree (other_source_id, other_hash) WHERE ((kind = 'extractive'::text) AND (state = 'open'::text));
CREATE UNIQUE INDEX consolidation_one_written ON public.consolidation_proposals USING btree (tenant_id, pair) WHERE ((kind = 'written'::text) AND (state = ANY (ARRAY['writing'::text, 'open'::text])));
CREATE INDEX consolidation_other ON public.consolidation_proposals USING btree (other_source_id, other_hash);
CREATE INDEX consolidation_page ON public.consolidation_proposals USING btree (tenant_id, state, created_at, id);
CREATE UNIQUE INDEX consolidation_pair_once ON public.consolidation_proposals USING btree (tenant_id, pair) WHERE ((kind = 'extractive'::text) AND (state = ANY (ARRAY['open'::text, 'accepted'::text, 'rejected'::text, 'undone'::text])));
CREATE INDEX consolidation_work_tenant ON public.consolidation_work USING btree (tenant_id);
CREATE UNIQUE INDEX deletion_requests_one_open ON public.deletion_requests USING btree (source_id, content_hash) WHERE (state = 'open'::text);
CREATE INDEX deletion_requests_page ON public.deletion_requests USING btree (tenant_id, state, created_at, id);
CREATE INDEX deletion_requests_text ON public.deletion_requests USING btree (source_id, content_hash, decided_at);
CREATE INDEX embedding_cache_age ON public.embedding_cache USING btree (last_used_at);
CREATE INDEX evaluation_segments_unsealed ON public.evaluation_segments USING btree (tenant_id, kind, day) WHERE (sealed_at IS NULL);
CREATE INDEX ingest_log_admitted ON public.ingest_log USING btree (at) WHERE ((outcome = 'admit'::text) AND (redactions = 0));
CREATE INDEX ingest_log_page ON public.ingest_log USING btree (tenant_id, at, id);
CREATE INDEX ingest_log_rest ON public.ingest_log USING btree (at) WHERE (NOT ((outcome = 'admit'::text) AND (redactions = 0)));
CREATE INDEX kb_chunks_history ON public.kb_chunks USING btree (source_id, chunk_index);
CREATE INDEX kb_chunks_identity ON public.kb_chunks USING btree (chunk_id);
CREATE UNIQUE INDEX kb_chunks_open ON public.kb_chunks USING btree (source_id, chunk_index) WHERE upper_inf(system_time);
CREATE INDEX kb_chunks_open_embedding ON public.kb_chunks USING hnsw (embedding public.vector_cosine_ops) WHERE upper_inf(system_time);
CREATE INDEX kb_chunks_open_tenant ON public.kb_chunks USING btree (tenant_id) WHERE upper_inf(system_time);
CREATE INDEX kb_chunks_open_words ON public.kb_chunks USING gin (words) WHERE upper_inf(system_time);
CREATE INDEX kb_chunks_tenant ON public.kb_chunks USING btree (tenant_id) WHERE (NOT upper_inf(system_time));
CREATE INDEX kb_events_dispatched ON public.kb_events USING btree (dispatched_at) WHERE (state = 'dispatched'::text);
CREATE INDEX kb_events_due ON public.kb_events USING btree (tenant_id, available_at) WHERE (state = 'pending'::text);
CREATE INDEX kb_events_finished ON public.kb_events USING btree (source_id, finished_at) WHERE (state = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text]));
CREATE INDEX kb_events_held_text ON public.kb_events USING btree (held_text_id) WHERE (held_text_id IS NOT NULL);
CREATE UNIQUE INDEX kb_events_one_open ON public.kb_events USING btree (source_id) WHERE (state = ANY (ARRAY['pending'::text, 'dispatched'::text, 'running'::text]));
CREATE INDEX kb_events_page ON public.kb_events USING btree (tenant_id, created_at, id);
CREATE INDEX kb_events_running ON public.kb_events USING btree (lease_until) WHERE (state = 'running'::text);
CREATE INDEX kb_held_texts_source ON public.kb_held_texts USING btree (source_id);
CREATE INDEX kb_held_texts_tenant ON public.kb_held_texts USING btree (tenant_id);
CREATE INDEX kb_run_queue_next ON public.kb_run_queue USING btree (next_at);
CREATE INDEX kb_sources_finite ON public.kb_sources USING btree (tenant_id) WHERE (expires_at IS NOT NULL);
CREATE INDEX kb_sources_inactive ON public.kb_sources USING btree (tenant_id) WHERE (NOT active);
CREATE INDEX kb_sources_page ON public.kb_sources USING btree (tenant_id, created_at, id);
CREATE INDEX kb_suggestions_approved ON public.kb_suggestions USING btree (event_id) WHERE (state = 'approved'::text);
CREATE INDEX kb_suggestions_held_text ON public.kb_suggestions USING btree (held_text_id) WHERE (held_text_id IS NOT NULL);
CREATE UNIQUE INDEX kb_suggestions_one_open ON public.kb_suggestions USING btree (source_id, kind) WHERE (state = ANY (ARRAY['open'::text, 'snoozed'::text]));
CREATE INDEX kb_suggestions_page ON public.kb_suggestions USING btree (tenant_id, state, created_at, id);
CREATE INDEX kb_suggestions_source ON public.kb_suggestions USING btree (source_id, kind, decided_at);
CREATE INDEX kb_versions_tenant ON public.kb_versions USING btree (tenant_id);
CREATE INDEX knowledge_cache_age ON public.knowledge_cache USING btree (expires_at);
CREATE INDEX knowledge_cache_tenant ON public.knowledge_cache USING btree (tenant_id, expires_at);
CREATE INDEX knowledge_circuits_tenant ON public.knowledge_circuits USING btree (tenant_id);
CREATE INDEX knowledge_consumers_origins ON public.knowledge_consumers USING gin (origins) WHERE (kind = 'widget'::text);
CREATE INDEX knowledge_nonces_age ON public.knowledge_nonces USING btree (keep_until);
CREATE INDEX knowledge_nonces_tenant ON public.knowledge_nonces USING btree (tenant_id);
CREATE INDEX knowledge_providers_order ON public.knowledge_providers USING btree (tenant_id, created_at, id);
CREATE INDEX knowledge_providers_overlap ON public.knowledge_providers USING btree (previous_secret_until) WHERE (previous_secret IS NOT NULL);
CREATE INDEX policy_evaluations_chunk ON public.policy_evaluations USING btree (tenant_id, chunk_id, evaluated_at);
CREATE INDEX policy_evaluations_page ON public.policy_evaluations USING btree (tenant_id, evaluated_at, id);
CREATE INDEX quarantine_page ON public.quarantine USING btree (tenant_id, state, created_at, id);
CREATE INDEX search_cache_age ON public.search_cache USING btree (expires_at);
CREATE INDEX search_writes_age ON public.search_writes USING btree (at);
CREATE INDEX superseded_chunks_current ON public.superseded_chunks USING btree (source_id, content_hash) WHERE upper_inf(period);
CREATE INDEX superseded_chunks_kept ON public.superseded_chunks USING btree (kept_source_id);
CREATE INDEX superseded_chunks_proposal ON public.superseded_chunks USING btree (proposal_id);
CREATE INDEX superseded_chunks_tenant ON public.superseded_chunks USING btree (tenant_id);
CREATE INDEX tombstones_tenant ON public.tombstones USING btree (tenant_id);
CREATE INDEX widget_windows_age ON public.widget_windows USING btree (started_at);
CREATE TRIGGER chunk_policies_delete_noted AFTER DELETE ON public.chunk_policies REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER chunk_policies_insert_noted AFTER INSERT ON public.chunk_policies REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER chunk_policies_update_noted AFTER UPDATE ON public.chunk_policies REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER evaluation_segments_rows BEFORE DELETE ON public.evaluation_segments FOR EACH ROW EXECUTE FUNCTION public.drop_evaluations_v1();
CREATE TRIGGER kb_chunks_delete_noted AFTER DELETE ON public.kb_chunks REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER kb_chunks_insert_noted AFTER INSERT ON public.kb_chunks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER kb_chunks_update_noted AFTER UPDATE ON public.kb_chunks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER kb_events_end AFTER UPDATE OF state ON public.kb_events FOR EACH ROW WHEN (((new.state = ANY (ARRAY['done'::text, 'failed'::text, 'skipped'::text, 'cancelled'::text])) AND (new.state <> old.state))) EXECUTE FUNCTION public.close_suggestion_v1();
CREATE TRIGGER kb_events_wake AFTER INSERT OR UPDATE OF state, available_at ON public.kb_events FOR EACH ROW WHEN ((new.state = 'pending'::text)) EXECUTE FUNCTION public.wake_tenant_v1();
CREATE TRIGGER kb_sources_delete_noted AFTER DELETE ON public.kb_sources REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER kb_sources_insert_noted AFTER INSERT ON public.kb_sources REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER kb_sources_update_noted AFTER UPDATE ON public.kb_sources REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER superseded_chunks_delete_noted AFTER DELETE ON public.superseded_chunks REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER superseded_chunks_insert_noted AFTER INSERT ON public.superseded_chunks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER superseded_chunks_update_noted AFTER UPDATE ON public.superseded_chunks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.note_search_write_v1();
CREATE TRIGGER tenants_gone AFTER DELETE ON public.tenants FOR EACH ROW EXECUTE FUNCTION public.forget_search_writes_v1();
CREATE TRIGGER tombstones_consolidation AFTER INSERT ON public.tombstones FOR EACH ROW EXECUTE FUNCTION public.lapse_consolidation_v1();
ALTER TABLE ONLY public.admin_audit
    ADD CONSTRAINT admin_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chunk_policies
    ADD CONSTRAINT chunk_policies_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.chunk_recalls
    ADD CONSTRAINT chunk_recalls_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.consolidation_proposals
    ADD CONSTRAINT consolidation_proposals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.consolidation_proposals
    ADD CONSTRAINT consolidation_proposals_tenant_id_kept_source_id_fkey FOREIGN KEY (tenant_id, kept_source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.consolidation_proposals
    ADD CONSTRAINT consolidation_proposals_tenant_id_other_source_id_fkey FOREIGN KEY (tenant_id, other_source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.consolidation_work
    ADD CONSTRAINT consolidation_work_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES public.consolidation_proposals(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.consolidation_work
    ADD CONSTRAINT consolidation_work_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deletion_requests
    ADD CONSTRAINT deletion_requests_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deletion_requests
    ADD CONSTRAINT deletion_requests_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deny_patterns
    ADD CONSTRAINT deny_patterns_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.evaluation_segments
    ADD CONSTRAINT evaluation_segments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.ingest_log
    ADD CONSTRAINT ingest_log_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_chunks
    ADD CONSTRAINT kb_chunks_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_events
    ADD CONSTRAINT kb_events_held_text_id_fkey FOREIGN KEY (held_text_id) REFERENCES public.kb_held_texts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.kb_events
    ADD CONSTRAINT kb_events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_events
    ADD CONSTRAINT kb_events_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_held_texts
    ADD CONSTRAINT kb_held_texts_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_night_use
    ADD CONSTRAINT kb_night_use_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_run_queue
    ADD CONSTRAINT kb_run_queue_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_sources
    ADD CONSTRAINT kb_sources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_suggestions
    ADD CONSTRAINT kb_suggestions_held_text_id_fkey FOREIGN KEY (held_text_id) REFERENCES public.kb_held_texts(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.kb_suggestions
    ADD CONSTRAINT kb_suggestions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_suggestions
    ADD CONSTRAINT kb_suggestions_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.kb_versions
    ADD CONSTRAINT kb_versions_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_cache
    ADD CONSTRAINT knowledge_cache_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.knowledge_providers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_circuits
    ADD CONSTRAINT knowledge_circuits_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.knowledge_providers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_consumers
    ADD CONSTRAINT knowledge_consumers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_consumers
    ADD CONSTRAINT knowledge_consumers_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.api_tokens(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_nonces
    ADD CONSTRAINT knowledge_nonces_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES public.knowledge_providers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.knowledge_providers
    ADD CONSTRAINT knowledge_providers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.mutation_windows
    ADD CONSTRAINT mutation_windows_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quarantine
    ADD CONSTRAINT quarantine_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.quarantine
    ADD CONSTRAINT quarantine_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.search_cache
    ADD CONSTRAINT search_cache_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.superseded_chunks
    ADD CONSTRAINT superseded_chunks_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES public.consolidation_proposals(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.superseded_chunks
    ADD CONSTRAINT superseded_chunks_tenant_id_kept_source_id_fkey FOREIGN KEY (tenant_id, kept_source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.superseded_chunks
    ADD CONSTRAINT superseded_chunks_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_plan_fkey FOREIGN KEY (plan) REFERENCES public.plans(name);
ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_tenant_id_source_id_fkey FOREIGN KEY (tenant_id, source_id) REFERENCES public.kb_sources(tenant_id, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.widget_windows
    ADD CONSTRAINT widget_windows_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id) ON DELETE CASCADE;
ALTER TABLE public.admin_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.api_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.chunk_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.chunk_recalls ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.consolidation_proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.consolidation_work ENABLE ROW LEVEL SECURITY;
CREATE POLICY consumers_only_in ON public.api_tokens AS RESTRICTIVE FOR INSERT TO larder_app WITH CHECK ((class = ANY (ARRAY['agent'::text, 'assistant'::text, 'widget'::text])));
CREATE POLICY consumers_only_out ON public.api_tokens AS RESTRICTIVE FOR DELETE TO larder_app USING ((class = ANY (ARRAY['agent'::text, 'assistant'::text, 'widget'::text])));
CREATE POLICY customer_safe ON public.knowledge_circuits TO larder_public USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND (provider_id IN ( SELECT p.id
   FROM public.knowledge_providers p)))) WITH CHECK (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND (provider_id IN ( SELECT p.id
   FROM public.knowledge_providers p))));
CREATE POLICY customer_safe ON public.knowledge_providers TO larder_public USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND (exposure_profile = 'customer_safe'::text))) WITH CHECK (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND (exposure_profile = 'customer_safe'::text)));
ALTER TABLE public.deletion_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.deny_patterns ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.evaluation_segments ENABLE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON public.chunk_policies FOR SELECT TO larder_worker USING (true);
CREATE POLICY every_tenant ON public.consolidation_work TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.evaluation_segments TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.kb_events TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.kb_night_use TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.kb_run_queue TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.kb_sources FOR SELECT TO larder_worker USING (true);
CREATE POLICY every_tenant ON public.policy_evaluations TO larder_worker USING (true) WITH CHECK (true);
CREATE POLICY every_tenant ON public.tenants FOR SELECT TO larder_worker USING (true);
ALTER TABLE public.ingest_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_held_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_night_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_run_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_suggestions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.kb_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_cache ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_circuits ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_consumers ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_nonces ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.knowledge_providers ENABLE ROW LEVEL SECURITY;
CREATE POLICY look_up ON public.api_tokens FOR SELECT TO larder_reader USING (true);
CREATE POLICY look_up ON public.consolidation_proposals TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY look_up ON public.consolidation_work TO larder_reader USING (true);
CREATE POLICY look_up ON public.kb_chunks TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY look_up ON public.kb_events TO larder_reader USING (true);
CREATE POLICY look_up ON public.kb_held_texts TO larder_reader USING (true);
CREATE POLICY look_up ON public.kb_sources FOR SELECT TO larder_reader USING (true);
CREATE POLICY look_up ON public.kb_suggestions TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY look_up ON public.kb_versions TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY look_up ON public.knowledge_cache TO larder_reader USING (true);
CREATE POLICY look_up ON public.knowledge_consumers FOR SELECT TO larder_reader USING ((kind = 'widget'::text));
CREATE POLICY look_up ON public.knowledge_providers FOR SELECT TO larder_reader USING ((module = 'larder'::text));
CREATE POLICY look_up ON public.quarantine TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY look_up ON public.superseded_chunks FOR SELECT TO larder_reader USING (true);
CREATE POLICY look_up ON public.tenants FOR SELECT TO larder_reader USING (true);
ALTER TABLE public.mutation_windows ENABLE ROW LEVEL SECURITY;
CREATE POLICY named ON public.kb_sources FOR UPDATE TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY not_published ON public.kb_chunks FOR SELECT TO larder_internal USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND ((NOT (source_id IN ( SELECT s.id
   FROM public.kb_sources s
  WHERE (s.published AND (s.sensitivity = 'public'::text))))) OR (EXISTS ( SELECT
   FROM public.chunk_policies p
  WHERE ((p.source_id = kb_chunks.source_id) AND (p.content_hash = kb_chunks.content_hash) AND ((p.sensitivity <> ALL (ARRAY[''::text, 'public'::text])) OR (p.content_class = 'credentials'::text))))))));
CREATE POLICY note ON public.search_writes TO larder_reader USING (true) WITH CHECK (true);
CREATE POLICY noted ON public.admin_audit FOR INSERT TO larder_reader WITH CHECK ((action = 'consolidation.lapsed'::text));
CREATE POLICY operations ON public.api_tokens TO larder_owner USING (true) WITH CHECK (true);
CREATE POLICY operations ON public.tenants TO larder_owner USING (true) WITH CHECK (true);
CREATE POLICY own_tenant ON public.admin_audit TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.api_tokens TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.chunk_policies TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.chunk_recalls TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.consolidation_proposals TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.consolidation_work TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.deletion_requests TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.deny_patterns TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.evaluation_segments TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.ingest_log TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_chunks TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_events TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_held_texts TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_night_use TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_run_queue TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_sources TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_suggestions TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.kb_versions TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.knowledge_cache TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.knowledge_circuits TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.knowledge_consumers TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.knowledge_nonces TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.knowledge_providers TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.mutation_windows TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.policy_evaluations TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.quarantine TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.search_cache TO larder_app USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.search_writes FOR SELECT TO larder_app USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.superseded_chunks TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.tenants TO larder_app USING ((id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.tombstones TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY own_tenant ON public.widget_windows TO larder_app, larder_worker USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
ALTER TABLE public.policy_evaluations ENABLE ROW LEVEL SECURITY;
CREATE POLICY published ON public.kb_chunks FOR SELECT TO larder_public USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND upper_inf(system_time) AND (source_id IN ( SELECT s.id
   FROM public.kb_sources s)) AND (NOT (EXISTS ( SELECT
   FROM public.chunk_policies p
  WHERE ((p.source_id = kb_chunks.source_id) AND (p.content_hash = kb_chunks.content_hash) AND ((p.sensitivity <> ALL (ARRAY[''::text, 'public'::text])) OR (p.content_class = 'credentials'::text))))))));
CREATE POLICY published ON public.kb_sources FOR SELECT TO larder_public USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND published AND (sensitivity = 'public'::text)));
CREATE POLICY published ON public.kb_versions FOR SELECT TO larder_public USING (((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid) AND (source_id IN ( SELECT s.id
   FROM public.kb_sources s))));
ALTER TABLE public.quarantine ENABLE ROW LEVEL SECURITY;
CREATE POLICY ran_out ON public.ingest_log TO larder_worker USING ((at < (clock_timestamp() -
CASE
    WHEN ((outcome = 'admit'::text) AND (redactions = 0)) THEN '30 days'::interval
    ELSE '365 days'::interval
END)));
CREATE POLICY ran_out ON public.knowledge_cache TO larder_worker USING ((expires_at < clock_timestamp()));
CREATE POLICY ran_out ON public.knowledge_nonces TO larder_worker USING ((keep_until < (clock_timestamp() - '00:01:00'::interval)));
CREATE POLICY ran_out ON public.knowledge_providers TO larder_worker USING ((previous_secret_until < clock_timestamp()));
CREATE POLICY ran_out ON public.search_cache TO larder_worker USING ((expires_at < clock_timestamp()));
CREATE POLICY ran_out ON public.search_writes TO larder_worker USING ((at < (clock_timestamp() - '00:59:00'::interval)));
CREATE POLICY ran_out ON public.widget_windows TO larder_worker USING ((started_at < (clock_timestamp() - '00:10:00'::interval)));
ALTER TABLE public.search_cache ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.search_writes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.superseded_chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.widget_windows ENABLE ROW LEVEL SECURITY;
CREATE POLICY within_tenant ON public.chunk_policies TO larder_public, larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY within_tenant ON public.evaluation_segments TO larder_public, larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY within_tenant ON public.kb_sources FOR SELECT TO larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY within_tenant ON public.kb_versions FOR SELECT TO larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY within_tenant ON public.policy_evaluations TO larder_public, larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid)) WITH CHECK ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
CREATE POLICY within_tenant ON public.superseded_chunks FOR SELECT TO larder_public, larder_internal USING ((tenant_id = (NULLIF(current_setting('larder.tenant_id'::text, true), ''::text))::uuid));
GRANT USAGE ON SCHEMA public TO larder_app;
GRANT USAGE ON SCHEMA public TO larder_worker;
GRANT USAGE ON SCHEMA public TO larder_reader;
GRANT USAGE ON SCHEMA public TO larder_public;
GRANT USAGE ON SCHEMA public TO larder_internal;
REVOKE ALL ON FUNCTION public.close_suggestion_v1() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.drop_finished_work_v1(p_after uuid, p_before timestamp with time zone, p_now timestamp with time zone, p_sources integer, p_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_finished_work_v1(p_after uuid, p_before timestamp with time zone, p_now timestamp with time zone, p_sources integer, p_rows integer) TO larder_worker;
REVOKE ALL ON FUNCTION public.erase_chunk_v1(p_source uuid, p_hash text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.erase_chunk_v1(p_source uuid, p_hash text) TO larder_app;
GRANT ALL ON FUNCTION public.erase_chunk_v1(p_source uuid, p_hash text) TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.knowledge_consumers TO larder_app;
GRANT SELECT ON TABLE public.knowledge_consumers TO larder_reader;
REVOKE ALL ON FUNCTION public.find_origin_v1(p_origin text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_origin_v1(p_origin text) TO larder_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.knowledge_providers TO larder_app;
GRANT SELECT ON TABLE public.knowledge_providers TO larder_public;
GRANT SELECT ON TABLE public.knowledge_providers TO larder_reader;
GRANT SELECT(id) ON TABLE public.knowledge_providers TO larder_worker;
GRANT UPDATE(name) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(base_url) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(secret) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(secret_key_id) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(previous_secret) ON TABLE public.knowledge_providers TO larder_app;
GRANT SELECT(previous_secret),UPDATE(previous_secret) ON TABLE public.knowledge_providers TO larder_worker;
GRANT UPDATE(previous_secret_key_id) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(previous_secret_key_id) ON TABLE public.knowledge_providers TO larder_worker;
GRANT UPDATE(previous_secret_until) ON TABLE public.knowledge_providers TO larder_app;
GRANT SELECT(previous_secret_until) ON TABLE public.knowledge_providers TO larder_worker;
GRANT UPDATE(secret_rotated_at) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(capabilities) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(priority) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(status) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(status) ON TABLE public.knowledge_providers TO larder_public;
GRANT UPDATE(allow_private_network) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(send_conversation_id) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(config_generation) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(config_generation) ON TABLE public.knowledge_providers TO larder_public;
GRANT UPDATE(label_warnings) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(label_warnings) ON TABLE public.knowledge_providers TO larder_public;
GRANT UPDATE(last_label_warning_at) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(last_label_warning_at) ON TABLE public.knowledge_providers TO larder_public;
GRANT UPDATE(updated_at) ON TABLE public.knowledge_providers TO larder_app;
GRANT UPDATE(updated_at) ON TABLE public.knowledge_providers TO larder_public;
GRANT SELECT ON TABLE public.tenants TO larder_app;
GRANT SELECT ON TABLE public.tenants TO larder_worker;
GRANT SELECT ON TABLE public.tenants TO larder_reader;
GRANT UPDATE(enabled) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(timezone) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(night_start) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(night_end) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(nightly_job_cap) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(firewall_mode) ON TABLE public.tenants TO larder_app;
GRANT UPDATE(memory_require_approval) ON TABLE public.tenants TO larder_app;
REVOKE ALL ON FUNCTION public.find_own_registration_v1(p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_own_registration_v1(p_id uuid) TO larder_app;
GRANT SELECT ON TABLE public.api_tokens TO larder_reader;
GRANT INSERT,DELETE ON TABLE public.api_tokens TO larder_app;
GRANT SELECT(id) ON TABLE public.api_tokens TO larder_app;
GRANT SELECT(tenant_id) ON TABLE public.api_tokens TO larder_app;
GRANT SELECT(class) ON TABLE public.api_tokens TO larder_app;
REVOKE ALL ON FUNCTION public.find_token_by_id_v1(p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_token_by_id_v1(p_id uuid) TO larder_app;
REVOKE ALL ON FUNCTION public.find_token_v1(p_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_token_v1(p_hash bytea) TO larder_app;
REVOKE ALL ON FUNCTION public.find_token_v2(p_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_token_v2(p_hash bytea) TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.chunk_policies TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.chunk_policies TO larder_worker;
GRANT SELECT ON TABLE public.chunk_policies TO larder_public;
GRANT SELECT ON TABLE public.chunk_policies TO larder_internal;
GRANT SELECT,INSERT,UPDATE ON TABLE public.chunk_recalls TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.chunk_recalls TO larder_worker;
GRANT SELECT ON TABLE public.kb_chunks TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_chunks TO larder_worker;
GRANT SELECT,UPDATE ON TABLE public.kb_chunks TO larder_reader;
GRANT SELECT ON TABLE public.kb_chunks TO larder_public;
GRANT SELECT ON TABLE public.kb_chunks TO larder_internal;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_sources TO larder_app;
GRANT SELECT,UPDATE ON TABLE public.kb_sources TO larder_worker;
GRANT SELECT ON TABLE public.kb_sources TO larder_reader;
GRANT SELECT ON TABLE public.kb_sources TO larder_public;
GRANT SELECT ON TABLE public.kb_sources TO larder_internal;
GRANT UPDATE(name) ON TABLE public.kb_sources TO larder_reader;
GRANT SELECT,INSERT ON TABLE public.policy_evaluations TO larder_app;
GRANT SELECT,DELETE ON TABLE public.policy_evaluations TO larder_worker;
GRANT SELECT,INSERT ON TABLE public.policy_evaluations TO larder_public;
GRANT SELECT,INSERT ON TABLE public.policy_evaluations TO larder_internal;
REVOKE ALL ON FUNCTION public.finite_chunks_v1(p_tenant uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.finite_chunks_v1(p_tenant uuid) TO larder_app;
GRANT ALL ON FUNCTION public.finite_chunks_v1(p_tenant uuid) TO larder_worker;
REVOKE ALL ON FUNCTION public.forget_search_writes_v1() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.lapse_consolidation_v1() FROM PUBLIC;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_events TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_events TO larder_worker;
GRANT SELECT,DELETE ON TABLE public.kb_events TO larder_reader;
REVOKE ALL ON FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) TO larder_app;
GRANT ALL ON FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) TO larder_worker;
GRANT ALL ON FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) TO larder_public;
GRANT ALL ON FUNCTION public.names_of_both_v1(p_one text[], p_other text[]) TO larder_internal;
REVOKE ALL ON FUNCTION public.note_search_write_v1() FROM PUBLIC;
REVOKE ALL ON FUNCTION public.parts_of_v1(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.parts_of_v1(p_text text) TO larder_reader;
REVOKE ALL ON FUNCTION public.tier_rank_v1(p_tier text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.tier_rank_v1(p_tier text) TO larder_app;
GRANT ALL ON FUNCTION public.tier_rank_v1(p_tier text) TO larder_worker;
GRANT ALL ON FUNCTION public.tier_rank_v1(p_tier text) TO larder_public;
GRANT ALL ON FUNCTION public.tier_rank_v1(p_tier text) TO larder_internal;
REVOKE ALL ON FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) TO larder_app;
GRANT ALL ON FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) TO larder_worker;
GRANT ALL ON FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) TO larder_public;
GRANT ALL ON FUNCTION public.policy_rules_v1(p_sensitivity text, p_expires_at timestamp with time zone, p_roles text[], p_purposes text[], p_own_sensitivity text, p_own_expires_at timestamp with time zone, p_own_roles text[], p_own_purposes text[], p_class text, p_status text) TO larder_internal;
REVOKE ALL ON FUNCTION public.says_part_v1(p_text text, p_parts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.says_part_v1(p_text text, p_parts text[]) TO larder_reader;
REVOKE ALL ON FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) TO larder_app;
GRANT ALL ON FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) TO larder_public;
GRANT ALL ON FUNCTION public.search_words_v1(p_query text, p_sources uuid[], p_limit integer) TO larder_internal;
REVOKE ALL ON FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) TO larder_app;
GRANT ALL ON FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) TO larder_public;
GRANT ALL ON FUNCTION public.search_words_v2(p_query text, p_sources uuid[], p_limit integer) TO larder_internal;
REVOKE ALL ON FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) TO larder_app;
GRANT ALL ON FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) TO larder_public;
GRANT ALL ON FUNCTION public.search_words_v3(p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer) TO larder_internal;
GRANT SELECT,INSERT,UPDATE ON TABLE public.superseded_chunks TO larder_app;
GRANT SELECT ON TABLE public.superseded_chunks TO larder_worker;
GRANT SELECT ON TABLE public.superseded_chunks TO larder_reader;
GRANT SELECT ON TABLE public.superseded_chunks TO larder_public;
GRANT SELECT ON TABLE public.superseded_chunks TO larder_internal;
REVOKE ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) TO larder_app;
GRANT ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) TO larder_worker;
GRANT ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) TO larder_reader;
GRANT ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) TO larder_public;
GRANT ALL ON FUNCTION public.superseded_v1(p_sources uuid[]) TO larder_internal;
REVOKE ALL ON FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) TO larder_app;
GRANT ALL ON FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) TO larder_worker;
GRANT ALL ON FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) TO larder_public;
GRANT ALL ON FUNCTION public.superseded_v2(p_sources uuid[], p_at timestamp with time zone) TO larder_internal;
GRANT SELECT,INSERT ON TABLE public.admin_audit TO larder_app;
GRANT SELECT,INSERT ON TABLE public.admin_audit TO larder_worker;
GRANT INSERT ON TABLE public.admin_audit TO larder_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE public.consolidation_proposals TO larder_app;
GRANT SELECT,UPDATE ON TABLE public.consolidation_proposals TO larder_worker;
GRANT SELECT,UPDATE ON TABLE public.consolidation_proposals TO larder_reader;
GRANT SELECT,INSERT,DELETE ON TABLE public.consolidation_work TO larder_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.consolidation_work TO larder_worker;
GRANT SELECT,DELETE ON TABLE public.consolidation_work TO larder_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE public.deletion_requests TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.deletion_requests TO larder_worker;
GRANT SELECT,INSERT,DELETE ON TABLE public.deny_patterns TO larder_app;
GRANT SELECT ON TABLE public.deny_patterns TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.embedding_cache TO larder_worker;
GRANT SELECT,DELETE ON TABLE public.embedding_cache TO larder_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE public.evaluation_segments TO larder_app;
GRANT SELECT,UPDATE ON TABLE public.evaluation_segments TO larder_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.evaluation_segments TO larder_public;
GRANT SELECT,INSERT,UPDATE ON TABLE public.evaluation_segments TO larder_internal;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.host_leases TO larder_worker;
GRANT SELECT,INSERT ON TABLE public.ingest_log TO larder_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.ingest_log TO larder_worker;
GRANT SELECT,INSERT ON TABLE public.kb_held_texts TO larder_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.kb_held_texts TO larder_worker;
GRANT SELECT,DELETE ON TABLE public.kb_held_texts TO larder_reader;
GRANT SELECT ON TABLE public.kb_night_use TO larder_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kb_night_use TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kb_run_queue TO larder_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kb_run_queue TO larder_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_suggestions TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_suggestions TO larder_worker;
GRANT SELECT,DELETE,UPDATE ON TABLE public.kb_suggestions TO larder_reader;
GRANT SELECT ON TABLE public.kb_versions TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.kb_versions TO larder_worker;
GRANT SELECT,UPDATE ON TABLE public.kb_versions TO larder_reader;
GRANT SELECT ON TABLE public.kb_versions TO larder_public;
GRANT SELECT ON TABLE public.kb_versions TO larder_internal;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.knowledge_cache TO larder_app;
GRANT SELECT,DELETE ON TABLE public.knowledge_cache TO larder_worker;
GRANT SELECT,DELETE ON TABLE public.knowledge_cache TO larder_reader;
GRANT UPDATE(expires_at) ON TABLE public.knowledge_cache TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.knowledge_circuits TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.knowledge_circuits TO larder_public;
GRANT SELECT,INSERT,DELETE ON TABLE public.knowledge_nonces TO larder_app;
GRANT SELECT,DELETE ON TABLE public.knowledge_nonces TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mutation_windows TO larder_app;
GRANT SELECT ON TABLE public.plans TO larder_app;
GRANT SELECT ON TABLE public.plans TO larder_worker;
GRANT SELECT,UPDATE ON TABLE public.quarantine TO larder_reader;
GRANT SELECT,INSERT,UPDATE ON TABLE public.quarantine TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.quarantine TO larder_worker;
GRANT SELECT ON TABLE public.scheduler_state TO larder_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.scheduler_state TO larder_worker;
GRANT SELECT ON TABLE public.schema_migrations TO larder_app;
GRANT SELECT ON TABLE public.schema_migrations TO larder_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.search_cache TO larder_app;
GRANT SELECT,DELETE ON TABLE public.search_cache TO larder_worker;
GRANT SELECT ON TABLE public.search_writes TO larder_app;
GRANT SELECT,INSERT,DELETE ON TABLE public.search_writes TO larder_reader;
GRANT SELECT,DELETE ON TABLE public.search_writes TO larder_worker;
GRANT SELECT,INSERT ON TABLE public.tombstones TO larder_app;
GRANT SELECT,INSERT ON TABLE public.tombstones TO larder_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.widget_windows TO larder_app;
GRANT SELECT,DELETE ON TABLE public.widget_windows TO larder_worker;
