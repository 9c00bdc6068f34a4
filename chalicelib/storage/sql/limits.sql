-- name: take
-- A window that began in the future was begun by a clock that ran ahead: it is over, too.
with given as (select %(now)s::timestamptz - interval '1 hour' as first, %(now)s::timestamptz + interval '1 minute' as last)
insert into mutation_windows as w (tenant_id, started_at, used) values (%(tenant_id)s, %(now)s, 1)
on conflict (tenant_id) do update
   set (started_at, used) = (
         select case when w.started_at > first and w.started_at <= last then w.started_at else excluded.started_at end,
                case when w.started_at > first and w.started_at <= last then w.used + 1 else 1 end from given)
 where w.used < %(limit)s or not (select w.started_at > first and w.started_at <= last from given)
returning used, started_at

-- name: window
select used, started_at from mutation_windows where tenant_id = %(tenant_id)s

-- name: standing
-- The window that a mutation would fall into; none: it would begin one.
select used, started_at from mutation_windows
 where tenant_id = %(tenant_id)s and started_at > %(now)s::timestamptz - interval '1 hour'
   and started_at <= %(now)s::timestamptz + interval '1 minute'

-- name: turn
select used from mutation_windows where tenant_id = %(tenant_id)s for update

-- name: give_back
update mutation_windows set used = used - 1 where tenant_id = %(tenant_id)s
