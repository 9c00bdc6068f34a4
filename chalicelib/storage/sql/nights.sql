-- name: used
select used from kb_night_use where tenant_id = %(tenant_id)s and night_id = %(night_id)s

-- name: count_full
select count(*) from unnest(%(tenants)s::uuid[], %(nights)s::date[], %(caps)s::int[]) as t (tenant_id, night_id, cap)
  join kb_night_use u on u.tenant_id = t.tenant_id and u.night_id = t.night_id
 where u.used >= t.cap

-- name: forget_old
delete from kb_night_use where night_id < %(before)s
