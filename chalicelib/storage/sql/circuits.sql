-- name: load
select * from knowledge_circuits where provider_id = any (%(ids)s) and lane = %(lane)s

-- name: claim_probe
-- One request of all replicas gets the half-open circuit.
update knowledge_circuits set probe_until = %(probe_until)s
 where provider_id = %(id)s and lane = %(lane)s and epoch = %(epoch)s and not stopped
   and open_until <= %(now)s and (probe_until is null or probe_until <= %(now)s)

-- name: mend
-- An answer that came while the circuit was closed; touches the row only if a failure stands in it.
update knowledge_circuits set transient_failures = 0, hard_failures = 0
 where provider_id = %(id)s and epoch = %(epoch)s and lane = %(lane)s
   and open_until is null and not stopped and (transient_failures > 0 or hard_failures > 0)
   and exists (select from knowledge_providers p where p.id = %(id)s and p.config_generation = %(config_generation)s)

-- name: make
insert into knowledge_circuits (provider_id, lane, tenant_id)
select p.id, %(lane)s, p.tenant_id from knowledge_providers p where p.id = %(id)s
on conflict do nothing

-- name: lock
select * from knowledge_circuits where provider_id = %(id)s and lane = %(lane)s for update

-- name: save
update knowledge_circuits
   set epoch = %(epoch)s, transient_failures = %(transient_failures)s, hard_failures = %(hard_failures)s,
       pauses = %(pauses)s, open_until = %(open_until)s, probe_until = %(probe_until)s, stopped = %(stopped)s,
       last_failure = coalesce(%(failure)s, last_failure), last_reason = coalesce(%(reason)s, last_reason),
       last_failure_at = case when %(failure)s::text is null then last_failure_at else %(now)s end
 where provider_id = %(id)s and lane = %(lane)s
