-- name: version
select current_setting('server_version')

-- name: readiness
select s.last_tick_at, s.queue_depth, s.measured_at,
       array(select m.checksum from schema_migrations m) as applied
  from (values (1)) one left join scheduler_state s on true

-- name: clock
select clock_timestamp()

-- name: vector
select x.extversion as version,
       coalesce((select i.indisvalid and i.indisready from pg_index i
                  where i.indexrelid = to_regclass('kb_chunks_open_embedding')), false) as index_valid,
       (select a.atttypmod from pg_attribute a
         where a.attrelid = 'kb_chunks'::regclass and a.attname = 'embedding') as dimension
  from pg_extension x where x.extname = 'vector'

-- name: cached
-- An estimate that costs nothing; -1 before the first vacuum.
select reltuples::bigint from pg_class where oid = 'embedding_cache'::regclass

-- name: damage
-- Postgres itself refuses invalid UTF-8 and NUL; what is looked for are the other control characters (spec 2.4).
select count(*) as examined, count(*) filter (where damaged) as damaged,
       coalesce((array_agg(distinct chunk_id) filter (where damaged and recallable))[1:20], '{}') as recallable
  from ((select chunk_id, not forgotten as recallable, text ~ '[\x01-\x08\x0b\x0e-\x1f]' as damaged
           from kb_chunks where tenant_id = %(tenant_id)s and upper_inf(system_time) limit %(limit)s)
        union all
        (select chunk_id, false, text ~ '[\x01-\x08\x0b\x0e-\x1f]'
           from kb_chunks where tenant_id = %(tenant_id)s and not upper_inf(system_time) limit %(limit)s)) looked_at

-- name: recorded
select exists (select from policy_evaluations where tenant_id = %(tenant_id)s and chunk_id = %(chunk_id)s)

-- name: held_without
-- Whether a text in quarantine lacks a word; null if it isn't there.
select position(%(word)s in text) = 0 from quarantine where id = %(id)s
