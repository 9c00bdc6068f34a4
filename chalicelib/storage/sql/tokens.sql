-- name: find
select * from find_token_v2(%(token_hash)s)

-- name: find_by_id
select * from find_token_by_id_v1(%(id)s)

-- name: insert
insert into api_tokens (tenant_id, class, label, operator_name, roles, purposes, token_hash, created_at)
values (%(tenant_id)s, %(class)s, %(label)s, %(operator_name)s, %(roles)s, %(purposes)s, %(token_hash)s, %(now)s)
returning id

-- name: list
select k.id, t.name as tenant, k.class, k.label, k.operator_name, k.roles, k.purposes, k.created_at, k.revoked_at
  from api_tokens k join tenants t on t.id = k.tenant_id
 where %(tenant)s::text is null or t.name = %(tenant)s
 order by k.created_at, k.id

-- name: revoke
update api_tokens set revoked_at = %(now)s where id = %(id)s and revoked_at is null
