-- Sealing looks for heads that are not sealed yet among all that ever were.
create index evaluation_segments_unsealed on evaluation_segments (tenant_id, kind, day) where sealed_at is null;

-- Of the ingest log goes what is older than it must be kept: 30 days for a text that came in as it was, a year for the rest.
create index ingest_log_admitted on ingest_log (at) where outcome = 'admit' and redactions = 0;
create index ingest_log_rest on ingest_log (at) where not (outcome = 'admit' and redactions = 0);
create policy ran_out on ingest_log to larder_worker
  using (at < clock_timestamp() - case when outcome = 'admit' and redactions = 0 then interval '30 days'
                                       else interval '365 days' end);
grant delete on ingest_log to larder_worker;

-- Forgetting a text: also where a part of it waits for a review or stands in quarantine, in the name that a deposit has
-- by its title, and in answers of providers that were kept for a moment.
-- A part is a sentence or line that no other text has by chance.
create function parts_of_v1(p_text text) returns text[] language sql immutable
begin atomic
  select array_agg(p.part) || p_text
    from regexp_split_to_table(p_text, '[.!?]?\s*\n\s*|[.!?]\s+') as p (part) where length(p.part) >= 24;
end;

create function says_part_v1(p_text text, p_parts text[]) returns boolean language sql immutable
begin atomic
  select coalesce(bool_or(position(p.part in p_text) > 0), false) from unnest(p_parts) as p (part);
end;
revoke all on function parts_of_v1, says_part_v1 from public;
grant execute on function parts_of_v1, says_part_v1 to larder_reader;

create or replace function erase_chunk_v1(p_source uuid, p_hash text) returns integer
language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  v_tenant uuid := nullif(current_setting('larder.tenant_id', true), '')::uuid;
  v_body text := (
    select substr(c.text, c.overlap + 1) from kb_chunks c
     where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash and not c.forgotten limit 1);
  v_parts text[] := parts_of_v1(v_body);
  v_erased integer;
begin
  if v_body is null then
    return 0;
  end if;
  delete from embedding_cache e using kb_chunks c
   where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash
     and e.text_hash = sha256(convert_to(c.text, 'UTF8'));
  delete from kb_held_texts h where h.tenant_id = v_tenant and h.source_id = p_source and says_part_v1(h.text, v_parts);
  -- Titles and descriptions may say it again, and so may a text that a gate stopped. A deposit that nobody has decided on
  -- is another text unless it says all of it.
  update kb_versions set title = null, description = null where tenant_id = v_tenant and source_id = p_source;
  update kb_sources set name = uri
   where tenant_id = v_tenant and id = p_source and type <> 'url' and length(name) >= 24 and position(name in v_body) > 0;
  update quarantine q set text = '[forgotten]', title = null,
         state = case q.state when 'held' then 'dropped' else q.state end
   where q.tenant_id = v_tenant and (q.source_id = p_source or q.source_id is null)
     and case when q.source_id is null and q.state = 'held' then position(v_body in q.text) > 0
              else says_part_v1(q.text, v_parts) end;
  delete from knowledge_cache where tenant_id = v_tenant;
  -- What the next chunk repeats of it goes too.
  update kb_chunks n set text = substr(n.text, n.overlap + 1), overlap = 0
    from kb_chunks c
   where c.tenant_id = v_tenant and c.source_id = p_source and c.content_hash = p_hash
     and n.source_id = p_source and n.chunk_index = c.chunk_index + 1 and n.overlap > 0 and n.system_time && c.system_time;
  -- A vector of zeros is near to nothing, and the index leaves it out.
  update kb_chunks set text = '[forgotten]', overlap = 0, forgotten = true,
         embedding = array_fill(0::real, array[384])::vector
   where tenant_id = v_tenant and source_id = p_source and content_hash = p_hash and not forgotten;
  get diagnostics v_erased = row_count;
  return v_erased;
end
$$;
grant select, delete on knowledge_cache to larder_reader;
create policy look_up on knowledge_cache to larder_reader using (true);
grant update (name) on kb_sources to larder_reader;
create policy named on kb_sources for update to larder_reader using (true) with check (true);
