-- name: deny_patterns
select pattern from deny_patterns where tenant_id = %(tenant_id)s order by pattern

-- name: add_deny_pattern
insert into deny_patterns (tenant_id, pattern, created_at) values (%(tenant_id)s, %(pattern)s, %(now)s)
on conflict do nothing

-- name: remove_deny_pattern
delete from deny_patterns where tenant_id = %(tenant_id)s and pattern = %(pattern)s

-- name: quarantine
insert into quarantine (tenant_id, source_id, deposit, gate, reason, title, text, policy, created_at)
values (%(tenant_id)s, %(source_id)s, %(deposit)s, %(gate)s, %(reason)s, %(title)s, %(text)s, %(policy)s, %(now)s)
returning id

-- name: quarantine_sizes
-- One page without its texts, whose sizes are known without reading them.
select id, created_at, octet_length(text) as octets from quarantine
 where tenant_id = %(tenant_id)s and state = %(state)s
   and (%(after_time)s::timestamptz is null or (created_at, id) > (%(after_time)s, %(after_id)s))
 order by created_at, id limit %(limit)s

-- name: quarantined
select * from quarantine where id = any (%(ids)s) order by created_at, id

-- name: quarantined_for_update
select * from quarantine where id = %(id)s for update

-- name: decide_quarantined
update quarantine set state = %(state)s, decided_at = %(now)s, decided_by = %(decided_by)s where id = %(id)s

-- name: quarantine_counts
select gate, count(*) as held from quarantine where tenant_id = %(tenant_id)s and state = 'held' group by gate

-- name: log
insert into ingest_log (tenant_id, at, deposit, outcome, gate, reason, redactions, source_id, correlation_id)
values (%(tenant_id)s, %(now)s, %(deposit)s, %(outcome)s, %(gate)s, %(reason)s, %(redactions)s, %(source_id)s,
        %(correlation_id)s)

-- name: entomb
insert into tombstones (source_id, content_hash, tenant_id, forgotten_at)
values (%(source_id)s, %(content_hash)s, %(tenant_id)s, %(now)s) on conflict do nothing

-- name: erase
select erase_chunk_v1(%(source_id)s, %(content_hash)s)
