-- name: find
update embedding_cache c set last_used_at = %(now)s
 where c.model_id = %(model_id)s and c.text_hash = any (%(hashes)s)
returning c.text_hash, c.embedding::text as embedding

-- name: put
insert into embedding_cache (model_id, text_hash, embedding, last_used_at)
select %(model_id)s, n.text_hash, n.embedding::vector, %(now)s
  from unnest(%(hashes)s::bytea[], %(embeddings)s::text[]) as n (text_hash, embedding)
on conflict (model_id, text_hash) do update set last_used_at = excluded.last_used_at

-- name: evict
delete from embedding_cache where (model_id, text_hash) in (
  select model_id, text_hash from embedding_cache order by last_used_at
   limit greatest(0, (select count(*) from embedding_cache) - %(rows)s))
