-- name: open_of_source
select row_id, chunk_id, chunk_index, overlap, text from kb_chunks
 where source_id = %(source_id)s and upper_inf(system_time) order by chunk_index

-- name: bodies_at
select substr(text, overlap + 1) as body from kb_chunks
 where source_id = %(source_id)s and system_time @> %(at)s::timestamptz order by chunk_index
