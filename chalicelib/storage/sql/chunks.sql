-- name: open_of_source
select row_id, chunk_id, chunk_index, overlap, text, content_hash from kb_chunks
 where source_id = %(source_id)s and upper_inf(system_time) order by chunk_index

-- name: at
select c.chunk_id, c.source_id, c.chunk_index, substr(c.text, c.overlap + 1) as text, c.content_hash,
       %(version)s::integer as version, s.uri as source_uri,
       s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from kb_chunks c join kb_sources s on s.id = c.source_id
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 where c.source_id = %(source_id)s and c.system_time @> %(at)s::timestamptz
 order by c.chunk_index
