-- name: drop_admitted
delete from ingest_log where id in (
  select id from ingest_log
   where outcome = 'admit' and redactions = 0 and at < %(before)s order by at limit %(limit)s)

-- name: drop_rest
delete from ingest_log where id in (
  select id from ingest_log
   where not (outcome = 'admit' and redactions = 0) and at < %(before)s order by at limit %(limit)s)
