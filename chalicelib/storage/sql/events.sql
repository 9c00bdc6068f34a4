-- name: insert
insert into kb_events (tenant_id, source_id, kind, night, available_at, approved_at, source_generation, held_text_id,
                       correlation_id, created_at)
values (%(tenant_id)s, %(source_id)s, %(kind)s, %(night)s, %(available_at)s, %(now)s, %(source_generation)s,
        %(held_text_id)s, %(correlation_id)s, %(now)s)
on conflict (source_id) where state in ('pending', 'dispatched', 'running') do nothing
returning *

-- name: open_of_source
select * from kb_events where source_id = %(source_id)s and state in ('pending', 'dispatched', 'running') for update

-- name: insert_nights
insert into kb_events (tenant_id, source_id, kind, night, available_at, approved_at, source_generation, correlation_id,
                       created_at)
select %(tenant_id)s, n.source_id, %(kind)s, true, %(available_at)s, %(now)s, n.generation, %(correlation_id)s, %(now)s
  from unnest(%(source_ids)s::uuid[], %(generations)s::integer[]) as n (source_id, generation)
on conflict (source_id) where state in ('pending', 'dispatched', 'running') do nothing

-- name: open_of_sources
select * from kb_events where source_id = any (%(source_ids)s) and state in ('pending', 'dispatched', 'running')
 order by source_id for update

-- name: bring_forward
update kb_events set night = false, available_at = %(now)s where id = %(id)s and state = 'pending' returning *

-- name: get
select * from kb_events where id = %(id)s

-- name: page
select * from kb_events
 where tenant_id = %(tenant_id)s and (%(state)s::text is null or state = %(state)s)
   and (%(source_id)s::uuid is null or source_id = %(source_id)s)
   and (%(before_time)s::timestamptz is null or (created_at, id) < (%(before_time)s, %(before_id)s))
 order by created_at desc, id desc limit %(limit)s

-- name: counts
select state, count(*) as events from kb_events
 where tenant_id = %(tenant_id)s and state in ('pending', 'dispatched', 'running') group by state

-- name: count_failed
select count(*) from (
  select from kb_events where tenant_id = %(tenant_id)s and state = 'failed'
     and created_at > %(since)s limit 10000) failed

-- name: waiting_for_night
select count(*) from kb_events where tenant_id = %(tenant_id)s and state = 'pending' and night

-- name: cancel
update kb_events set state = 'cancelled', finished_at = %(now)s, lease_token = null, lease_until = null
 where id = %(id)s and state in ('pending', 'dispatched', 'running') returning *

-- name: move_to_night
-- New settings: what waits for a later night waits for the new one; what is due in a window that is open stays due.
update kb_events set available_at = %(next_night)s
 where tenant_id = %(tenant_id)s and state = 'pending' and night
   and (available_at > %(now)s or not %(window_open)s)

-- name: back_into_tonight
-- A raised cap: what had its turn this night, and no room, has it again. What was tried or approved since waits.
update kb_events set available_at = %(now)s
 where tenant_id = %(tenant_id)s and state = 'pending' and night and available_at > %(now)s
   and attempts = 0 and approved_at < %(night_start)s

-- name: count_due
select count(*) from (
  select from kb_run_queue q join kb_events e on e.tenant_id = q.tenant_id
   where q.next_at <= %(now)s and e.state = 'pending' and e.available_at <= %(now)s limit %(limit)s) due

-- name: lock_due_tenants
select q.tenant_id, t.enabled, t.timezone, t.night_start, t.night_end, t.nightly_job_cap
  from kb_run_queue q join tenants t on t.id = q.tenant_id
 where q.next_at <= %(now)s
 order by q.next_at limit %(limit)s
   for update of q skip locked

-- name: sleep_disabled
-- Looked at again after a while, so that no way of switching a tenant on has to remember to wake it.
update kb_run_queue set next_at = %(until)s where tenant_id = any (%(tenants)s)

-- name: wake_tenant
update kb_run_queue set next_at = least(next_at, %(now)s) where tenant_id = %(tenant_id)s

-- name: dispatch
select event_id, tenant_id, correlation_id
  from dispatch_events_v1(%(now)s, %(tenants)s, %(caps)s, %(nights)s, %(next_nights)s, %(per_tenant)s,
                          %(limit)s)

-- name: in_flight
select count(*) from kb_events where state = 'dispatched'

-- name: undo_dispatch
update kb_events set state = 'pending', dispatched_at = null where id = any (%(ids)s) and state = 'dispatched'

-- name: sweep_leases
update kb_events set state = 'pending', lease_token = null, lease_until = null, dispatched_at = null
 where id = any (array(select id from kb_events
                        where state = 'running' and lease_until <= %(now)s and leases < %(max_leases)s
                        order by lease_until limit 1000 for update skip locked))
returning id

-- name: exhausted
select id, tenant_id, source_id from kb_events
 where state = 'running' and lease_until <= %(now)s and leases >= %(max_leases)s order by lease_until limit %(limit)s

-- name: end_exhausted
update kb_events
   set state = 'failed', outcome = 'internal_error', error = leases || ' leases ended without an outcome',
       finished_at = %(now)s, lease_token = null, lease_until = null, dispatched_at = null
 where id = %(id)s and state = 'running' and lease_until <= %(now)s and leases >= %(max_leases)s
returning error

-- name: sweep_lost
update kb_events set state = 'pending', dispatched_at = null
 where id = any (array(select id from kb_events where state = 'dispatched' and dispatched_at <= %(before)s
                        order by dispatched_at limit 1000 for update skip locked))
returning id

-- name: lease
-- One that has used up its leases is left to the sweep, which tells its source.
select l.* from kb_events e,
       lateral lease_event_v1(e.id, %(token)s, %(now)s, %(until)s, %(max_leases)s) l
 where e.id = %(event_id)s and e.leases < %(max_leases)s

-- name: put_back
-- The event gives its lease back unused: nothing was tried, so nothing is counted.
update kb_events
   set state = 'pending', available_at = %(available_at)s, lease_token = null, lease_until = null,
       leases = greatest(0, leases - 1), dispatched_at = null
 where id = %(id)s and lease_token = %(token)s

-- name: lock_running
select * from kb_events where id = %(id)s and state = 'running' and lease_token = %(token)s for update

-- name: retry
update kb_events
   set state = 'pending', available_at = %(available_at)s, night = night or %(at_night)s, attempts = attempts + 1,
       leases = 0, outcome = %(outcome)s, error = %(error)s, lease_token = null, lease_until = null, dispatched_at = null
 where id = %(id)s

-- name: finish
update kb_events
   set state = %(state)s, attempts = attempts + %(failed)s, outcome = %(outcome)s, error = %(error)s,
       finished_at = %(now)s, lease_token = null, lease_until = null
 where id = %(id)s

-- name: finish_refresh
select finish_refresh_v2(%(event_id)s, %(token)s, %(now)s, %(base_version)s, %(check)s, %(version)s, %(close)s,
                         %(ids)s, %(indexes)s, %(overlaps)s, %(texts)s, %(hashes)s, %(reuse)s, %(embeddings)s, %(model_id)s,
                         %(heirs)s, %(parents)s, %(policy_epoch)s)

-- name: hand_back
-- An unexpected error: the next delivery of the message may try again, until the leases are used up.
update kb_events
   set state = case when leases >= %(max_leases)s then 'failed' else 'dispatched' end,
       finished_at = case when leases >= %(max_leases)s then %(now)s end,
       outcome = 'internal_error', error = %(error)s, lease_token = null, lease_until = null
 where id = %(id)s and lease_token = %(token)s
returning state

-- name: has_lost
select exists (select from kb_events where state = 'dispatched' and dispatched_at <= %(before)s)
