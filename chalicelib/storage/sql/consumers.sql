-- name: insert_token
insert into api_tokens (tenant_id, class, label, operator_name, token_hash, created_at)
values (%(tenant_id)s, %(class)s, %(label)s, null, %(token_hash)s, %(now)s) returning id

-- name: insert
insert into knowledge_consumers (tenant_id, kind, name, origins, token_id, created_at)
values (%(tenant_id)s, %(kind)s, %(name)s, %(origins)s, %(token_id)s, %(now)s)
on conflict (tenant_id, kind, name) do nothing
returning *

-- name: list
select * from knowledge_consumers where tenant_id = %(tenant_id)s and kind = %(kind)s order by created_at, id

-- name: get
select * from knowledge_consumers where id = %(id)s and kind = %(kind)s for update

-- name: of_token
select * from knowledge_consumers where token_id = %(token_id)s and kind = %(kind)s and active

-- name: set_active
update knowledge_consumers set active = %(active)s where id = %(id)s returning *

-- name: set_capabilities
update knowledge_consumers set capabilities = %(capabilities)s where id = %(id)s returning *

-- name: delete
-- The consumer goes with its token.
delete from api_tokens where id = %(token_id)s

-- name: count
select count(*) from knowledge_consumers where tenant_id = %(tenant_id)s

-- name: origin_is_known
select find_origin_v1(%(origin)s)

-- name: take_window
-- A window of a minute that begins with its first request; nothing comes back once it is full.
insert into widget_windows as w (tenant_id, bucket, started_at, used)
values (%(tenant_id)s, %(bucket)s, %(now)s, 1)
on conflict (tenant_id, bucket) do update
   set started_at = case when w.started_at <= %(now)s - interval '1 minute' then %(now)s else w.started_at end,
       used = case when w.started_at <= %(now)s - interval '1 minute' then 1 else w.used + 1 end
 where w.used < %(limit)s or w.started_at <= %(now)s - interval '1 minute'
returning used

-- name: drop_windows
delete from widget_windows where started_at < %(now)s - interval '10 minutes'
