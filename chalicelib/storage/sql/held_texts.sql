-- name: insert
insert into kb_held_texts (tenant_id, source_id, reason, base_version, text, title, language, description,
                           canonical_url, final_url, invisible_removed, secrets_redacted, extractor_version,
                           secret_rules_version, fetched_at)
values (%(tenant_id)s, %(source_id)s, %(reason)s, %(base_version)s, %(text)s, %(title)s, %(language)s, %(description)s,
        %(canonical_url)s, %(final_url)s, %(invisible_removed)s, %(secrets_redacted)s, %(extractor_version)s,
        %(secret_rules_version)s, %(fetched_at)s)
returning id

-- name: get
select * from kb_held_texts where id = %(id)s
