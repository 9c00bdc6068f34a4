-- name: ticked
insert into scheduler_state (last_tick_at) values (%(now)s)
on conflict (only_row) do update set last_tick_at = greatest(scheduler_state.last_tick_at, excluded.last_tick_at)

-- name: last_tick
select last_tick_at from scheduler_state

-- name: measured
update scheduler_state set queue_depth = %(waiting)s, dead_letters = %(dead)s, measured_at = %(now)s

-- name: state
select last_tick_at, queue_depth, dead_letters, measured_at from scheduler_state
