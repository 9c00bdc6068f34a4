-- name: guarded
-- Every text of a source that has a policy of its own, current or not, once.
select distinct on (p.content_hash) p.content_hash, substr(c.text, c.overlap + 1) as text, p.updated_at as said_at,
       row(p.sensitivity, p.expires_at, p.permitted_roles, p.allowed_purposes, p.content_class,
           p.validation_status)::text as said
  from chunk_policies p join kb_chunks c on c.source_id = p.source_id and c.content_hash = p.content_hash
 where p.source_id = %(source_id)s order by p.content_hash

-- name: epoch
select max(updated_at) from chunk_policies where source_id = %(source_id)s

-- name: forgotten
select content_hash from tombstones where source_id = %(source_id)s and content_hash = any (%(hashes)s)

-- name: of_texts
select content_hash, sensitivity as chunk_sensitivity, expires_at as chunk_expires_at,
       permitted_roles as chunk_permitted_roles, allowed_purposes as chunk_allowed_purposes, content_class,
       validation_status
  from chunk_policies where source_id = %(source_id)s and content_hash = any (%(hashes)s)

-- name: put
-- Always the latest of its source, also by a clock that is behind: a refresh under way must notice (finish_refresh).
insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, expires_at, permitted_roles,
                            allowed_purposes, content_class, validation_status, updated_at)
values (%(source_id)s, %(content_hash)s, %(tenant_id)s, %(sensitivity)s, %(expires_at)s, %(permitted_roles)s,
        %(allowed_purposes)s, %(content_class)s, %(validation_status)s,
        greatest(%(now)s, (select max(l.updated_at) + interval '1 microsecond'
                             from chunk_policies l where l.source_id = %(source_id)s)))
on conflict (source_id, content_hash) do update
   set sensitivity = excluded.sensitivity, expires_at = excluded.expires_at, permitted_roles = excluded.permitted_roles,
       allowed_purposes = excluded.allowed_purposes, content_class = excluded.content_class,
       validation_status = excluded.validation_status, updated_at = excluded.updated_at

-- name: classify
-- What is said of these texts stays; of one of which nothing was said, the class says it.
insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, allowed_purposes, content_class, updated_at)
select %(source_id)s, h.content_hash, %(tenant_id)s, %(sensitivity)s, %(allowed_purposes)s, %(content_class)s,
       greatest(%(now)s, (select max(l.updated_at) + interval '1 microsecond'
                            from chunk_policies l where l.source_id = %(source_id)s))
  from unnest(%(hashes)s::text[]) as h (content_hash)
on conflict (source_id, content_hash) do update
   set content_class = excluded.content_class, updated_at = excluded.updated_at
 where chunk_policies.content_class <> excluded.content_class

-- name: set_of_source
update kb_sources
   set sensitivity = %(sensitivity)s, expires_at = %(expires_at)s, permitted_roles = %(permitted_roles)s,
       allowed_purposes = %(allowed_purposes)s, published = %(published)s, updated_at = %(now)s
 where id = %(source_id)s

-- name: audit
insert into admin_audit (tenant_id, at, token_id, operator, action, target, before, after, correlation_id)
values (%(tenant_id)s, %(now)s, %(token_id)s, %(operator)s, %(action)s, %(target)s, %(before)s, %(after)s,
        %(correlation_id)s)

-- name: source
select s.id as source_id, s.uri as source_uri, s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles,
       s.allowed_purposes, s.provenance, s.producer, s.trust, s.published
  from kb_sources s where s.id = %(source_id)s

-- name: chunk
-- The chunk as it stands now, or else as it stood last.
select c.chunk_id, c.source_id, c.content_hash, s.uri as source_uri, s.tenant_id, s.sensitivity, s.expires_at,
       s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from kb_chunks c join kb_sources s on s.id = c.source_id
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 where c.chunk_id = %(chunk_id)s order by upper_inf(c.system_time) desc, upper(c.system_time) desc nulls first limit 1

-- name: any_of_source
select exists (select from chunk_policies where source_id = %(source_id)s)
