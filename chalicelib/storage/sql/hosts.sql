-- name: lease
-- A lease is for half a minute: one that ends in hours was taken by a clock that ran ahead.
insert into host_leases as h (host, lease_token, lease_until, not_before)
values (%(host)s, %(token)s, %(until)s, %(now)s)
on conflict (host) do update set lease_token = %(token)s, lease_until = %(until)s
 where (h.lease_until <= %(now)s or h.lease_until > %(now)s + interval '1 hour') and h.not_before <= %(now)s
returning host

-- name: busy_until
select greatest(case when lease_until <= %(now)s + interval '1 hour' then lease_until end, not_before)
  from host_leases where host = %(host)s

-- name: release
update host_leases set lease_until = %(now)s where host = %(host)s and lease_token = %(token)s

-- name: close
insert into host_leases as h (host, lease_until, not_before) values (%(host)s, %(now)s, %(not_before)s)
on conflict (host) do update set not_before = greatest(h.not_before, excluded.not_before)

-- name: forget_idle
delete from host_leases where lease_until < %(before)s and not_before < %(before)s
