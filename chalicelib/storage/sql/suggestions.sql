-- name: get
select * from kb_suggestions where id = %(id)s

-- name: get_for_update
select * from kb_suggestions where id = %(id)s for update

-- name: get_many_for_update
select * from kb_suggestions where id = any (%(ids)s) order by id for update

-- name: insert
insert into kb_suggestions (tenant_id, source_id, kind, reason, detail, held_text_id, stale_since, created_at)
values (%(tenant_id)s, %(source_id)s, %(kind)s, %(reason)s, %(detail)s, %(held_text_id)s, %(stale_since)s, %(now)s)
on conflict (source_id, kind) where state in ('open', 'snoozed') do nothing

-- name: insert_refreshes
-- In the order of the sources' ids: two readers at once wait for each other and never in a ring.
insert into kb_suggestions (tenant_id, source_id, kind, reason, detail, stale_since, created_at)
select %(tenant_id)s, n.source_id, 'refresh', n.reason, n.detail, n.stale_since, %(now)s
  from unnest(%(source_ids)s::uuid[], %(reasons)s::text[], %(details)s::jsonb[], %(stale_since)s::timestamptz[])
         as n (source_id, reason, detail, stale_since)
 order by n.source_id
on conflict (source_id, kind) where state in ('open', 'snoozed') do nothing

-- name: lock_sources_of
-- In the order of their ids: whoever takes several sources does so, and takes them before what belongs to them.
select s.id from kb_sources s
 where s.id = any (array(select g.source_id from kb_suggestions g where g.id = any (%(ids)s)
                         union select (g.detail->>'other_source_id')::uuid from kb_suggestions g
                                where g.id = any (%(ids)s) and g.kind = 'merge'))
 order by s.id for no key update

-- name: due_again
select id from kb_suggestions
 where tenant_id = %(tenant_id)s and state = 'snoozed' and snoozed_until <= %(now)s

-- name: reopen
update kb_suggestions set state = 'open', snoozed_until = null
 where id = any (%(ids)s) and state = 'snoozed' and snoozed_until <= %(now)s

-- name: moot
-- A source that was refreshed, switched off or found stale no longer needs no question about it; nor does one about
-- whose text somebody is asked.
select g.id
  from kb_suggestions g join kb_sources s on s.id = g.source_id
 where g.tenant_id = %(tenant_id)s and g.state in ('open', 'snoozed') and g.kind = 'refresh'
   and (not s.active
     or s.last_checked_at + make_interval(secs => s.refresh_ttl_seconds) > %(now)s
     or (g.state = 'open' or g.snoozed_until <= %(now)s)
        and g.source_id in (select r.source_id from kb_suggestions r
                             where r.tenant_id = %(tenant_id)s and r.kind = 'review_change'
                               and (r.state = 'open' or r.state = 'snoozed' and r.snoozed_until <= %(now)s)))

-- name: close
update kb_suggestions set state = 'closed' where id = any (%(ids)s) and state in ('open', 'snoozed')

-- name: page
select g.*, s.uri as source_uri, s.name as source_name
  from kb_suggestions g join kb_sources s on s.id = g.source_id
 where g.tenant_id = %(tenant_id)s and g.state = 'open'
   and (%(after_time)s::timestamptz is null or (g.created_at, g.id) > (%(after_time)s, %(after_id)s))
 order by g.created_at, g.id limit %(limit)s

-- name: open_ids
select created_at, id from kb_suggestions
 where tenant_id = %(tenant_id)s and state = 'open'
   and (%(after_time)s::timestamptz is null or (created_at, id) > (%(after_time)s, %(after_id)s))
 order by created_at, id limit %(limit)s

-- name: counts
select count(*) filter (where state = 'open') as open, count(*) filter (where state = 'approved') as approved
  from kb_suggestions where tenant_id = %(tenant_id)s and state in ('open', 'approved')

-- name: decide
update kb_suggestions
   set state = %(state)s, snoozed_until = %(snoozed_until)s, decided_at = %(now)s, decided_by = %(decided_by)s,
       event_id = %(event_id)s
 where id = %(id)s

-- name: approve_many
update kb_suggestions g
   set state = 'approved', snoozed_until = null, decided_at = %(now)s, decided_by = %(decided_by)s, event_id = n.event_id
  from unnest(%(ids)s::uuid[], %(event_ids)s::uuid[]) as n (id, event_id)
 where g.id = n.id

-- name: make_way_for_review
-- A newer doubtful text takes the place of the one that nobody has answered yet, and nobody needs to ask for a refresh.
update kb_suggestions set state = 'closed'
 where source_id = %(source_id)s and kind in ('review_change', 'refresh') and state in ('open', 'snoozed')

-- name: refresh_failed
-- The refresh that is asked for was tried meanwhile, and failed.
update kb_suggestions set reason = 'last_refresh_failed', detail = jsonb_build_object('last_status', %(status)s::text)
 where source_id = %(source_id)s and kind = 'refresh' and state in ('open', 'snoozed')

-- name: withdraw_redirects
-- What the last check did not see any more: a redirect that is gone or leads elsewhere, or to a page that has become a
-- source of its own, or is none any more.
update kb_suggestions g set state = 'closed'
 where g.source_id = %(source_id)s and g.kind in ('change_uri', 'merge') and g.state in ('open', 'snoozed')
   and (g.detail->>'uri' is distinct from %(target)s::text
     or (g.kind = 'merge') <> exists (select from kb_sources o
                                       where o.tenant_id = g.tenant_id and o.uri = %(target)s and o.id <> g.source_id))

-- name: offer_redirect
-- A permanent redirect that has stood for seven days, or an https upgrade of the same host at once (spec 1.7);
-- a target that is another source's uri is a duplicate to merge. One that was dismissed is asked again: the source has
-- just been checked again, and so long did the dismissal hold (spec 1.2).
insert into kb_suggestions (tenant_id, source_id, kind, reason, detail, created_at)
select s.tenant_id, s.id, case when o.id is null then 'change_uri' else 'merge' end, 'permanent_redirect',
       jsonb_build_object('uri', %(target)s::text, 'other_source_id', o.id), %(now)s
  from kb_sources s left join kb_sources o on o.tenant_id = s.tenant_id and o.uri = %(target)s and o.id <> s.id
 where s.id = %(source_id)s
   and (s.redirect_since <= %(now)s - interval '7 days' or %(https_upgrade)s or o.id is not null)
on conflict (source_id, kind) where state in ('open', 'snoozed') do nothing
