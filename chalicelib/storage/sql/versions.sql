-- name: current
select * from kb_versions where source_id = %(source_id)s and upper_inf(system_time)

-- name: at
select * from kb_versions where source_id = %(source_id)s and system_time @> %(at)s::timestamptz

-- name: get
select * from kb_versions where source_id = %(source_id)s and version = %(version)s

-- name: page
select * from kb_versions
 where source_id = %(source_id)s and (%(before)s::integer is null or version < %(before)s)
 order by version desc limit %(limit)s
