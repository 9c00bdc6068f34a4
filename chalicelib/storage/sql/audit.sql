-- name: decisions_by_day
-- What was allowed stands in the heads of the chains; what was blocked is counted by its reason.
select day, 'allow' as what, row_count as count
  from evaluation_segments where tenant_id = %(tenant_id)s and kind = 'allow' and day >= %(since)s
union all
select day, decision, count(*)
  from policy_evaluations where tenant_id = %(tenant_id)s and kind = 'block' and day >= %(since)s group by day, decision

-- name: decisions
select e.id, e.evaluated_at, e.chunk_id, e.version, e.role, e.purpose, e.operator, e.trace_id, e.decision, e.reason,
       e.mode, s.name as source_name
  from policy_evaluations e left join kb_sources s on s.id = e.source_id
 where e.tenant_id = %(tenant_id)s and e.evaluated_at >= %(since)s
   and (%(at)s::timestamptz is null or e.evaluated_at = %(at)s)
   and (%(trace_id)s::text is null or e.trace_id = %(trace_id)s)
   and (%(decision)s::text is null or e.decision = %(decision)s)
   and (%(chunk_id)s::uuid is null or e.chunk_id = %(chunk_id)s)
   and (%(before_time)s::timestamptz is null or (e.evaluated_at, e.id) < (%(before_time)s, %(before_id)s))
 order by e.evaluated_at desc, e.id desc limit %(limit)s

-- name: reads
-- All decisions of one request have its trace and its instant. In the order of the index, so that a page is enough.
select evaluated_at as created_at, min(id::text)::uuid as id, trace_id, role, purpose, operator, mode,
       count(*) filter (where kind = 'allow') as allowed, count(*) filter (where kind = 'block') as blocked
  from policy_evaluations
 where tenant_id = %(tenant_id)s and evaluated_at >= %(since)s
   and (%(before_time)s::timestamptz is null or evaluated_at <= %(before_time)s)
 group by evaluated_at, trace_id, role, purpose, operator, mode
having %(before_time)s::timestamptz is null
    or (evaluated_at, min(id::text)) < (%(before_time)s, %(before_id)s::text)
 order by evaluated_at desc, min(id::text) desc limit %(limit)s

-- name: deposits_by_day
select (at at time zone 'UTC')::date as day, outcome as what, count(*) as count, sum(redactions) as redactions
  from ingest_log where tenant_id = %(tenant_id)s and at >= %(since)s::date::timestamp at time zone 'UTC'
 group by 1, 2

-- name: deposits
select i.id, i.at as created_at, i.deposit, i.outcome, i.gate, i.reason, i.redactions, i.correlation_id,
       s.name as source_name
  from ingest_log i left join kb_sources s on s.id = i.source_id
 where i.tenant_id = %(tenant_id)s
   and (%(before_time)s::timestamptz is null or (i.at, i.id) < (%(before_time)s, %(before_id)s))
 order by i.at desc, i.id desc limit %(limit)s

-- name: changes
select id, at, operator, action, target, before, after, correlation_id
  from admin_audit
 where tenant_id = %(tenant_id)s and target = any (%(targets)s)
 order by at desc, id desc limit %(limit)s
