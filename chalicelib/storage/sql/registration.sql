-- name: for_customers
-- Asked as larder_public, which sees no other registration anyway.
select id, name, base_url, secret, secret_key_id, previous_secret, previous_secret_key_id, previous_secret_until,
       capabilities, priority, status, allow_private_network, config_generation
  from knowledge_providers
 where tenant_id = %(tenant_id)s and exposure_profile = 'customer_safe'
 order by created_at, id

-- name: lock
-- Before their circuits, and in one order: so does everybody who changes any of it.
select id, config_generation from knowledge_providers where id = any (%(ids)s) order by id for no key update

-- name: warn
update knowledge_providers
   set label_warnings = label_warnings + %(count)s, last_label_warning_at = %(now)s
 where id = %(id)s

-- name: auto_disable
update knowledge_providers
   set status = 'auto_disabled', config_generation = config_generation + 1, updated_at = %(now)s
 where id = %(id)s and status = 'active'
