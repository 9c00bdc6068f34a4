-- name: insert
insert into tenants (name, plan, created_at) values (%(name)s, %(plan)s, %(now)s)
on conflict (name) do nothing returning id

-- name: plan_exists
select exists (select from plans where name = %(plan)s)

-- name: delete
delete from tenants where name = %(name)s

-- name: set_enabled
update tenants set enabled = %(enabled)s where name = %(name)s returning id

-- name: list
select id, name, plan, enabled, timezone, created_at from tenants order by name

-- name: get
select id, name, plan, enabled, timezone, night_start, night_end, nightly_job_cap, mutations_per_hour,
       memory_require_approval
  from tenants where id = %(id)s

-- name: get_for_update
select id, name, plan, enabled, timezone, night_start, night_end, nightly_job_cap, mutations_per_hour,
       memory_require_approval
  from tenants where id = %(id)s for no key update

-- name: update_settings
update tenants
   set enabled = coalesce(%(enabled)s, enabled), timezone = coalesce(%(timezone)s, timezone),
       night_start = coalesce(%(night_start)s, night_start), night_end = coalesce(%(night_end)s, night_end),
       nightly_job_cap = coalesce(%(nightly_job_cap)s, nightly_job_cap),
       memory_require_approval = coalesce(%(memory_require_approval)s, memory_require_approval)
 where id = %(id)s

-- name: source_limit
select p.kb_sources from tenants t join plans p on p.name = t.plan where t.id = %(id)s for no key update of t

-- name: by_name
select id from tenants where name = %(name)s

-- name: set_firewall_mode
update tenants set firewall_mode = %(mode)s where id = %(id)s
