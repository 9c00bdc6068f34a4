-- name: tenants
-- Whose texts have an end, another part of them every time where they are more than one sweep can serve.
select t.id from tenants t
 where exists (select from kb_sources s where s.tenant_id = t.id and s.expires_at is not null)
    or exists (select from chunk_policies p where p.tenant_id = t.id and p.expires_at is not null)
 order by md5(t.id::text || %(seed)s) limit %(limit)s

-- name: lock
-- One sweep of a tenant at a time.
select pg_advisory_xact_lock(hashtextextended('larder retention ' || %(tenant_id)s::text, 0))

-- name: requires_approval
select memory_require_approval from tenants where id = %(tenant_id)s

-- name: remember
insert into chunk_recalls as r (source_id, content_hash, tenant_id, last_recalled_at)
select f.source_id, f.content_hash, %(tenant_id)s, f.last_recalled_at from finite_chunks_v1(%(tenant_id)s) f
 where f.last_recalled_at is not null
on conflict (source_id, content_hash) do update set last_recalled_at = excluded.last_recalled_at
 where r.last_recalled_at < excluded.last_recalled_at

-- name: expired
select f.*, s.name as source_name from finite_chunks_v1(%(tenant_id)s) f join kb_sources s on s.id = f.source_id
 where f.expires_at <= %(now)s order by f.source_id, f.content_hash limit %(limit)s

-- name: idle
-- Nobody has used it for the window, or for its own life where that is longer.
select f.*, s.name as source_name from finite_chunks_v1(%(tenant_id)s) f join kb_sources s on s.id = f.source_id
 where %(now)s - greatest(f.first_seen_at, f.last_recalled_at)
         >= greatest(%(window)s::interval, f.expires_at - f.first_seen_at)
   and not exists (select from deletion_requests d
                    where d.source_id = f.source_id and d.content_hash = f.content_hash
                      and (d.state = 'open' or d.decided_at > %(not_since)s))
 order by greatest(f.first_seen_at, f.last_recalled_at), f.source_id, f.content_hash limit %(limit)s

-- name: standing
-- How a text of which was asked is now; nothing if it is no longer there or has no end any more.
select * from finite_chunks_v1(%(tenant_id)s) f
 where f.source_id = %(source_id)s and f.content_hash = %(content_hash)s

-- name: lapse
-- Unanswered for its life, or used since: nobody needs to answer any more.
update deletion_requests d set state = 'lapsed', decided_at = least(d.lapses_at, %(now)s)
 where d.tenant_id = %(tenant_id)s and d.state = 'open'
   and (d.lapses_at <= %(now)s
        or exists (select from chunk_recalls r
                    where r.source_id = d.source_id and r.content_hash = d.content_hash
                      and r.last_recalled_at is distinct from d.last_recalled_at))

-- name: open_requests
select count(*) from deletion_requests where tenant_id = %(tenant_id)s and state = 'open'

-- name: ask
insert into deletion_requests (tenant_id, source_id, content_hash, chunk_id, policy_digest, expires_at,
                               last_recalled_at, created_at, lapses_at)
values (%(tenant_id)s, %(source_id)s, %(content_hash)s, %(chunk_id)s, %(policy_digest)s, %(expires_at)s,
        %(last_recalled_at)s, %(now)s, %(lapses_at)s)

-- name: page
select d.*, s.name as source_name from deletion_requests d join kb_sources s on s.id = d.source_id
 where d.tenant_id = %(tenant_id)s and d.state = %(state)s
   and (%(after_time)s::timestamptz is null or (d.created_at, d.id) > (%(after_time)s, %(after_id)s))
 order by d.created_at, d.id limit %(limit)s

-- name: get_for_update
select d.*, s.name as source_name from deletion_requests d join kb_sources s on s.id = d.source_id
 where d.id = %(id)s for update of d

-- name: decide
update deletion_requests set state = %(state)s, decided_at = %(now)s, decided_by = %(decided_by)s where id = %(id)s
