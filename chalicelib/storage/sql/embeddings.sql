-- name: find
-- Whoever marks what was used waits for nobody: texts are shared by all tenants, in any order.
with used as (
  update embedding_cache set last_used_at = %(now)s
   where (model_id, text_hash) in (select model_id, text_hash from embedding_cache
                                    where model_id = %(model_id)s and text_hash = any (%(hashes)s)
                                      for no key update skip locked)
)
select text_hash, embedding::text as embedding from embedding_cache
 where model_id = %(model_id)s and text_hash = any (%(hashes)s)

-- name: put
insert into embedding_cache (model_id, text_hash, embedding, last_used_at)
select %(model_id)s, n.text_hash, n.embedding::vector, %(now)s
  from unnest(%(hashes)s::bytea[], %(embeddings)s::text[]) as n (text_hash, embedding)
 order by n.text_hash  -- two writers of the same texts wait for each other in one order
on conflict (model_id, text_hash) do update set last_used_at = excluded.last_used_at

-- name: evict
delete from embedding_cache where (model_id, text_hash) in (
  select model_id, text_hash from embedding_cache order by last_used_at
   limit greatest(0, (select count(*) from embedding_cache) - %(rows)s) for update skip locked)
