-- name: get
select * from kb_sources where id = %(id)s

-- name: get_for_update
select * from kb_sources where id = %(id)s for no key update

-- name: get_many
select * from kb_sources where id = any (%(ids)s)

-- name: lock_known
-- In the order of their ids: whoever takes several sources does so.
select id from kb_sources where tenant_id = %(tenant_id)s and uri = any (%(uris)s) order by id for no key update

-- name: find_by_uri
select * from kb_sources where tenant_id = %(tenant_id)s and uri = %(uri)s for no key update

-- name: page
select * from kb_sources
 where tenant_id = %(tenant_id)s
   and (%(after_time)s::timestamptz is null or (created_at, id) > (%(after_time)s, %(after_id)s))
 order by created_at, id limit %(limit)s

-- name: count_active
select count(*) from kb_sources where tenant_id = %(tenant_id)s and active and type = 'url'

-- name: insert
insert into kb_sources (tenant_id, uri, name, refresh_ttl_seconds, keep_hidden_text, created_at, updated_at)
values (%(tenant_id)s, %(uri)s, %(name)s, %(refresh_ttl_seconds)s, %(keep_hidden_text)s, %(now)s, %(now)s)
on conflict (tenant_id, uri) do nothing
returning *

-- name: update
update kb_sources
   set name = coalesce(%(name)s, name), refresh_ttl_seconds = coalesce(%(refresh_ttl_seconds)s, refresh_ttl_seconds),
       -- what decides about the text makes the next check unconditional
       etag = case when %(keep_hidden_text)s <> keep_hidden_text then null else etag end,
       last_modified = case when %(keep_hidden_text)s <> keep_hidden_text then null else last_modified end,
       body_hash = case when %(keep_hidden_text)s <> keep_hidden_text then null else body_hash end,
       keep_hidden_text = coalesce(%(keep_hidden_text)s, keep_hidden_text), updated_at = %(now)s
 where id = %(id)s returning *

-- name: set_active
update kb_sources set active = %(active)s, updated_at = %(now)s where id = %(id)s returning *

-- name: change_uri
update kb_sources
   set uri = %(uri)s, generation = generation + 1, etag = null, last_modified = null, body_hash = null,
       redirect_to = null, redirect_since = null, gone_in_a_row = 0, updated_at = %(now)s
 where id = %(id)s and not exists (select from kb_sources o where o.tenant_id = %(tenant_id)s and o.uri = %(uri)s)
returning *

-- name: record_attempt
update kb_sources
   set last_attempt_at = greatest(%(now)s, last_attempt_at), last_status = %(status)s, last_error = %(error)s,
       gone_in_a_row = case when %(gone)s then gone_in_a_row + 1 else 0 end, updated_at = %(now)s
 where id = %(id)s returning gone_in_a_row

-- name: stale
-- A review or a farewell keeps the question back while it is open: one that was put off leaves the source to go stale.
-- Hashed lists and a look-up a row, not joins: right after thousands of sources were added the statistics know of none,
-- and a nested loop over them would take minutes.
select s.* from kb_sources s
 where s.tenant_id = %(tenant_id)s and s.active and s.type = 'url'
   and (s.last_checked_at is null or s.last_checked_at + make_interval(secs => s.refresh_ttl_seconds) <= %(now)s)
   and s.id not in (select e.source_id from kb_events e
                     where e.tenant_id = %(tenant_id)s and e.state in ('pending', 'dispatched', 'running'))
   and s.id not in (select g.source_id from kb_suggestions g
                     where g.tenant_id = %(tenant_id)s
                       and (g.state = 'open' and g.kind in ('refresh', 'review_change', 'gone')
                         or g.state = 'snoozed' and g.kind = 'refresh'))
   and not coalesce((select true from kb_suggestions g
                      where g.source_id = s.id and g.kind = 'refresh' and g.state = 'dismissed'
                        and (s.last_checked_at is null or s.last_checked_at <= g.decided_at)
                        and g.decided_at + make_interval(secs => s.refresh_ttl_seconds) > %(now)s limit 1), false)

-- name: insert_deposit
insert into kb_sources (tenant_id, uri, type, name, provenance, producer, trust, sensitivity, expires_at, permitted_roles,
                        allowed_purposes, created_at, updated_at)
values (%(tenant_id)s, %(uri)s, %(type)s, %(name)s, %(provenance)s, %(producer)s, %(trust)s, %(sensitivity)s,
        %(expires_at)s, %(permitted_roles)s, %(allowed_purposes)s, %(now)s, %(now)s)
returning *
