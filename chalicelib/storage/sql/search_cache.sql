-- name: snapshot
select pg_current_snapshot()::text

-- name: recall
select c.row_ids, c.scores from search_cache c
 where c.tenant_id = %(tenant_id)s and c.key = %(key)s and c.expires_at > %(now)s
   and not exists (select from search_writes w
                    where w.tenant_id = %(tenant_id)s and not pg_visible_in_snapshot(w.xid, c.snapshot))

-- name: keep
-- While there is room; what has run out makes some.
with gone as (delete from search_cache where tenant_id = %(tenant_id)s and expires_at <= %(now)s returning 1)
insert into search_cache (tenant_id, key, row_ids, scores, snapshot, expires_at)
select %(tenant_id)s, %(key)s, %(row_ids)s, %(scores)s, %(snapshot)s::pg_snapshot, %(expires_at)s
 where (select count(*) from search_cache where tenant_id = %(tenant_id)s) - (select count(*) from gone) < %(rows)s
on conflict (tenant_id, key) do update
   set row_ids = excluded.row_ids, scores = excluded.scores, snapshot = excluded.snapshot,
       expires_at = excluded.expires_at

-- name: drop_answers
delete from search_cache where expires_at <= %(now)s

-- name: drop_writes
-- No answer lives as long as this.
delete from search_writes where at <= %(now)s::timestamptz - interval '1 hour'
