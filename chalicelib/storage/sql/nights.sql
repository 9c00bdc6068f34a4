-- name: used
select used from kb_night_use where tenant_id = %(tenant_id)s and night_id = %(night_id)s

-- name: forget_old
delete from kb_night_use where night_id < %(before)s
