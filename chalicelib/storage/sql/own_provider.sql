-- name: sources
-- What the role of this transaction can reach, so that the keyword leg ranks nothing else (it runs as another role).
select s.id from kb_sources s
 where s.tenant_id = %(tenant_id)s and s.active
   and (%(published)s or not (s.published and s.sensitivity = 'public')
        or exists (select from chunk_policies p
                    where p.source_id = s.id
                      and (p.sensitivity not in ('', 'public') or p.content_class = 'credentials')))

-- name: details
select s.id, s.type, s.last_checked_at, s.refresh_ttl_seconds, v.language
  from kb_sources s left join kb_versions v on v.source_id = s.id and v.version = s.current_version
 where s.id = any (%(ids)s)
