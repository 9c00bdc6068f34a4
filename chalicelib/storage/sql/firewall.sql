-- name: append
select append_evaluations_v1(%(tenant_id)s, %(day)s, %(kind)s, %(chunks)s, %(sources)s, %(versions)s, %(decisions)s,
                             %(reasons)s, %(digests)s, %(records)s, %(role)s, %(purpose)s, %(operator)s, %(trace_id)s,
                             %(mode)s, %(now)s)

-- name: page
select * from policy_evaluations
 where tenant_id = %(tenant_id)s and evaluated_at >= %(since)s and evaluated_at < %(until)s
   and (%(decision)s::text is null or decision = %(decision)s)
   and (%(chunk_id)s::uuid is null or chunk_id = %(chunk_id)s)
   and (%(role)s::text is null or role = %(role)s)
   and (%(after_time)s::timestamptz is null or (evaluated_at, id) > (%(after_time)s, %(after_id)s))
 order by evaluated_at, id limit %(limit)s

-- name: segments
-- A drop in the future has not been.
select tenant_id, day, kind, row_count, last_hash, sealed_at, seal, key_id,
       case when dropped_at is not null then least(dropped_at, now()) end as dropped_at
  from evaluation_segments where tenant_id = %(tenant_id)s order by kind, day

-- name: segment_rows
select number, id, row_hash, tenant_id, chunk_id, source_id, version, role, purpose, operator, trace_id, decision,
       reason, policy_digest, mode, evaluated_at
  from policy_evaluations
 where tenant_id = %(tenant_id)s and kind = %(kind)s and day = %(day)s and number > %(after)s and number <= %(upto)s
 order by number limit %(limit)s

-- name: lock_seals
-- One at a time: each seal is made over the one before.
select pg_advisory_xact_lock(hashtextextended('larder seals', 0))

-- name: to_seal
select g.*, (select p.seal from evaluation_segments p
              where p.tenant_id = g.tenant_id and p.kind = g.kind and p.day < g.day order by p.day desc limit 1) as before
  from evaluation_segments g
 where g.sealed_at is null and g.day < %(today)s
 order by g.tenant_id, g.kind, g.day limit %(limit)s for update of g

-- name: seal
update evaluation_segments set sealed_at = %(now)s, seal = %(seal)s, key_id = %(key_id)s
 where tenant_id = %(tenant_id)s and kind = %(kind)s and day = %(day)s

-- name: drop_segments
with gone as (
  update evaluation_segments set dropped_at = %(now)s
   where kind = %(kind)s and day < %(before)s and dropped_at is null and sealed_at is not null
  returning tenant_id, day
)
delete from policy_evaluations e using gone g
 where e.tenant_id = g.tenant_id and e.kind = %(kind)s and e.day = g.day
