-- name: insert
insert into knowledge_providers (
    id, tenant_id, name, base_url, exposure_profile, secret, secret_key_id, module, capabilities, priority,
    allow_private_network, send_conversation_id, created_at, updated_at)
values (
    %(id)s, %(tenant_id)s, %(name)s, %(base_url)s, %(exposure_profile)s, %(secret)s, %(secret_key_id)s, %(module)s,
    %(capabilities)s, %(priority)s, %(allow_private_network)s, %(send_conversation_id)s, %(now)s, %(now)s)
on conflict (tenant_id, name) do nothing
returning *

-- name: lock_tenant
-- The count of registrations is exact under concurrent creates.
select id from tenants where id = %(tenant_id)s for no key update

-- name: list
select * from knowledge_providers where tenant_id = %(tenant_id)s order by created_at, id

-- name: get
select * from knowledge_providers where id = %(id)s

-- name: get_for_update
-- The key stays, so whoever only refers to it need not wait.
select * from knowledge_providers where id = %(id)s for no key update

-- name: name_taken
select exists (select from knowledge_providers where tenant_id = %(tenant_id)s and name = %(name)s and id <> %(id)s)

-- name: update
update knowledge_providers
   set name = %(name)s, base_url = %(base_url)s, capabilities = %(capabilities)s, priority = %(priority)s,
       status = %(status)s, allow_private_network = %(allow_private_network)s,
       send_conversation_id = %(send_conversation_id)s, config_generation = %(config_generation)s, updated_at = %(now)s
 where id = %(id)s returning *

-- name: set_secret
update knowledge_providers
   set secret = %(secret)s, secret_key_id = %(secret_key_id)s, previous_secret = %(previous_secret)s,
       previous_secret_key_id = %(previous_secret_key_id)s, previous_secret_until = %(previous_secret_until)s,
       secret_rotated_at = %(now)s, config_generation = config_generation + 1, updated_at = %(now)s,
       status = case status when 'auto_disabled' then 'active' else status end  -- an admin has acted
 where id = %(id)s returning *

-- name: delete
delete from knowledge_providers where id = %(id)s

-- name: wipe
-- Of one tenant, or, for the scheduled function, of all.
-- One that somebody works on is left for the next minute.
update knowledge_providers set previous_secret = null, previous_secret_key_id = null
 where id in (select id from knowledge_providers
               where previous_secret_until <= %(now)s and previous_secret is not null for no key update skip locked)

-- name: circuits
select * from knowledge_circuits where tenant_id = %(tenant_id)s

-- name: forget
-- What was counted and what was kept, under the configuration that no longer counts.
with kept as (delete from knowledge_cache where provider_id = %(id)s)
delete from knowledge_circuits where provider_id = %(id)s

-- name: own
select * from find_own_registration_v1(%(id)s)

-- name: take_nonce
-- Kept by the first of all replicas; nothing comes back for the others.
insert into knowledge_nonces (provider_id, nonce, tenant_id, keep_until)
values (%(id)s, %(nonce)s, %(tenant_id)s, %(keep_until)s)
on conflict do nothing returning true

-- name: drop_nonces
delete from knowledge_nonces where keep_until <= %(now)s

-- name: drop_answers
-- Whoever keeps an answer takes a registration first and its rows then; nobody waits here for a row.
delete from knowledge_cache
 where (provider_id, key) in (select provider_id, key from knowledge_cache
                               where expires_at <= %(now)s for update skip locked)
