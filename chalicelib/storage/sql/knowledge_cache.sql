-- name: recall
select provider_id, results from knowledge_cache
 where (provider_id, key) in (select * from unnest(%(ids)s::uuid[], %(keys)s::bytea[])) and expires_at > %(now)s

-- name: keep
-- While there is room; what has run out makes some.
with gone as (delete from knowledge_cache where tenant_id = %(tenant_id)s and expires_at <= %(now)s returning 1)
insert into knowledge_cache (provider_id, key, tenant_id, results, expires_at)
select p.id, %(key)s, %(tenant_id)s, %(results)s, %(expires_at)s from knowledge_providers p
 where p.id = %(id)s and p.config_generation = %(config_generation)s  -- neither deleted nor changed since it was asked
   and (select count(*) from knowledge_cache where tenant_id = %(tenant_id)s) - (select count(*) from gone) < %(rows)s
   for key share of p
on conflict (provider_id, key) do update set results = excluded.results, expires_at = excluded.expires_at
