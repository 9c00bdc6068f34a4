-- name: prepare
-- Without the iterative scan a filter after the index would starve the result; the outer query sorts again.
select set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true)

-- name: current
-- What a chunk repeats of the one before is left out: the one before has a policy of its own.
-- Sources that are switched off are few, and so is what an operator let make way for a text that says the same: as
-- hashed lists they leave the vector index its order, a join would not.
-- Both legs, fused by reciprocal rank and cut before anything is joined back. A leg whose input is null is empty.
with superseded as materialized (
  select x.source_id, x.content_hash from superseded_v2(%(source_ids)s::uuid[], null) x
), vector_hit as materialized (
  select c.row_id, c.embedding <=> %(embedding)s::vector as distance
    from kb_chunks c
   where c.tenant_id = %(tenant_id)s and upper_inf(c.system_time) and not c.forgotten
     and %(embedding)s::text is not null
     and (%(source_ids)s::uuid[] is null or c.source_id = any (%(source_ids)s))
     and c.source_id not in (select s.id from kb_sources s where s.tenant_id = %(tenant_id)s and not s.active)
     and (c.source_id, c.content_hash) not in (select x.source_id, x.content_hash from superseded x)
   order by c.embedding <=> %(embedding)s::vector limit %(candidates)s
), vector_leg as (
  select row_id, row_number() over (order by distance, row_id) as place from vector_hit
), keyword_leg as (
  select row_id, row_number() over (order by rank desc, row_id) as place
    from (select array_agg(x.source_id) as sources, array_agg(x.content_hash) as hashes from superseded x) x,
         search_words_v3(%(words)s, %(source_ids)s, x.sources, x.hashes, %(candidates)s) w
   where not exists (select from kb_chunks f where f.row_id = w.row_id and f.forgotten)
), fused as (
  select row_id, sum(weight / (%(k)s + place)) as score
    from (select row_id, place, %(vector_weight)s::float8 as weight from vector_leg
          union all
          select row_id, place, %(keyword_weight)s::float8 from keyword_leg) legs
   group by row_id order by score desc, row_id limit %(limit)s
)
select f.row_id, c.chunk_id, c.chunk_index, substr(c.text, c.overlap + 1) as text, f.score, s.id as source_id, s.name as source_name, s.uri as source_uri,
       s.last_checked_at, s.refresh_ttl_seconds, v.version, v.fetched_at,
       -- a title may say what a guarded chunk says: where there is one, no title
       case when not exists (select from chunk_policies d where d.source_id = s.id) then v.title end as title,
       s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from fused f join kb_chunks c on c.row_id = f.row_id join kb_sources s on s.id = c.source_id
  join kb_versions v on v.source_id = c.source_id and v.version = s.current_version
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 order by f.score desc, f.row_id

-- name: as_of
-- The same over what was current at an instant: exact scans, for the partial indexes know open rows alone.
with then_current as materialized (
  select c.row_id, c.embedding, c.words
    from kb_chunks c
   where c.tenant_id = %(tenant_id)s and c.system_time @> %(at)s::timestamptz and not c.forgotten
     and (%(source_ids)s::uuid[] is null or c.source_id = any (%(source_ids)s))
     and c.source_id not in (select s.id from kb_sources s where s.tenant_id = %(tenant_id)s and not s.active)
     and (c.source_id, c.content_hash) not in (
       select x.source_id, x.content_hash from superseded_v2(%(source_ids)s::uuid[], %(at)s::timestamptz) x)
), asked as (
  select case when exists (select from then_current where words @@ query_words_v1(%(words)s))
              then query_words_v1(%(words)s) else any_of_words_v1(%(words)s) end as query
), vector_leg as (
  select row_id, row_number() over (order by distance, row_id) as place
    from (select row_id, embedding <=> %(embedding)s::vector as distance from then_current
           where %(embedding)s::text is not null order by 2, 1 limit %(candidates)s) nearest
), keyword_leg as (
  select row_id, row_number() over (order by rank desc, row_id) as place
    from (select c.row_id, ts_rank_cd(c.words, a.query) as rank from then_current c, asked a
           where c.words @@ a.query order by 2 desc, 1 limit %(candidates)s) best
), fused as (
  select row_id, sum(weight / (%(k)s + place)) as score
    from (select row_id, place, %(vector_weight)s::float8 as weight from vector_leg
          union all
          select row_id, place, %(keyword_weight)s::float8 from keyword_leg) legs
   group by row_id order by score desc, row_id limit %(limit)s
)
select f.row_id, c.chunk_id, c.chunk_index, substr(c.text, c.overlap + 1) as text, f.score, s.id as source_id, s.name as source_name, s.uri as source_uri,
       s.last_checked_at, s.refresh_ttl_seconds, v.version, v.fetched_at,
       -- a title may say what a guarded chunk says: where there is one, no title
       case when not exists (select from chunk_policies d where d.source_id = s.id) then v.title end as title,
       s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from fused f join kb_chunks c on c.row_id = f.row_id join kb_sources s on s.id = c.source_id
  join kb_versions v on v.source_id = c.source_id and v.system_time @> %(at)s::timestamptz
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 order by f.score desc, f.row_id

-- name: ranked
-- Rows that a search found a moment ago, as far as they are still current.
select f.row_id, c.chunk_id, c.chunk_index, substr(c.text, c.overlap + 1) as text, f.score, s.id as source_id, s.name as source_name, s.uri as source_uri,
       s.last_checked_at, s.refresh_ttl_seconds, v.version, v.fetched_at,
       -- a title may say what a guarded chunk says: where there is one, no title
       case when not exists (select from chunk_policies d where d.source_id = s.id) then v.title end as title,
       s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from unnest(%(row_ids)s::bigint[], %(scores)s::float8[]) as f (row_id, score)
  join kb_chunks c on c.row_id = f.row_id and upper_inf(c.system_time) and not c.forgotten
  join kb_sources s on s.id = c.source_id and s.active
  join kb_versions v on v.source_id = c.source_id and v.version = s.current_version
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 order by f.score desc, f.row_id
