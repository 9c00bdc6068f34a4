-- name: recall
select provider_id, results from knowledge_cache
 where (provider_id, key) in (select * from unnest(%(ids)s::uuid[], %(keys)s::bytea[])) and expires_at > %(now)s

-- name: lock
-- One at a time counts a tenant's rows and adds to them. Before any registration's lock, and nobody else takes it.
select pg_advisory_xact_lock(hashtextextended('larder knowledge cache ' || %(tenant_id)s::text, 0))

-- name: keep
-- While there is room, and for a registration that is still what it was when it was asked; it stays so until the row is
-- written.
insert into knowledge_cache (provider_id, key, tenant_id, results, expires_at)
select p.id, %(key)s, p.tenant_id, %(results)s, %(expires_at)s from knowledge_providers p
 where p.id = %(id)s and p.config_generation = %(config_generation)s
   and (select count(*) from knowledge_cache where tenant_id = %(tenant_id)s and expires_at > %(now)s) < %(rows)s
   for share of p
on conflict (provider_id, key) do update set results = excluded.results, expires_at = excluded.expires_at

-- name: evict
-- After everything that waits for a lock: nobody waits here for a row.
delete from knowledge_cache
 where (provider_id, key) in (select provider_id, key from knowledge_cache
                               where tenant_id = %(tenant_id)s and expires_at <= %(now)s for update skip locked)

-- name: forget
delete from knowledge_cache where provider_id = any (%(ids)s)
