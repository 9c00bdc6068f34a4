-- name: take
insert into mutation_windows as w (tenant_id, started_at, used) values (%(tenant_id)s, %(now)s, 1)
on conflict (tenant_id) do update
   set started_at = case when w.started_at <= %(now)s - interval '1 hour' then %(now)s else w.started_at end,
       used = case when w.started_at <= %(now)s - interval '1 hour' then 1 else w.used + 1 end
 where w.used < %(limit)s or w.started_at <= %(now)s - interval '1 hour'
returning used, started_at

-- name: window
select used, started_at from mutation_windows where tenant_id = %(tenant_id)s

-- name: give_back
update mutation_windows set used = used - 1 where tenant_id = %(tenant_id)s
