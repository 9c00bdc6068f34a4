-- name: last_of_page
-- Where the page after a place ends: so many chunks further, by source and place in it. Two indexes hold that order.
select max(n.place) as examined, (array_agg(n.source_id order by n.place desc))[1] as source_id,
       (array_agg(n.chunk_index order by n.place desc))[1] as chunk_index
  from (
    select p.source_id, p.chunk_index, row_number() over (order by p.source_id, p.chunk_index) as place
      from (
        select s.id as source_id, c.chunk_index
          from kb_sources s join kb_chunks c on c.source_id = s.id and upper_inf(c.system_time)
         where s.tenant_id = %(tenant_id)s and s.active
           and (%(after_source)s::uuid is null
                or (s.id >= %(after_source)s and (s.id, c.chunk_index) > (%(after_source)s, %(after_index)s)))
         order by s.id, c.chunk_index limit %(limit)s) p) n
having count(*) > 0

-- name: neighbours
-- Each text of the page with the texts next to it, as far as they are near enough. Ids and a number, no text.
with page as materialized (
  select c.row_id, c.source_id, c.content_hash, c.embedding, c.embedding_model
    from kb_sources s join kb_chunks c on c.source_id = s.id and upper_inf(c.system_time) and not c.forgotten
   where s.tenant_id = %(tenant_id)s and s.active
     and (%(after_source)s::uuid is null
          or (s.id >= %(after_source)s and (s.id, c.chunk_index) > (%(after_source)s, %(after_index)s)))
     and s.id <= %(last_source)s and (s.id, c.chunk_index) <= (%(last_source)s, %(last_index)s)
)
select p.source_id, p.content_hash, o.source_id as near_source_id, o.content_hash as near_hash,
       1 - min(n.distance) as similarity
  from page p
 cross join lateral (
   select c.row_id, c.embedding <=> p.embedding as distance
     from kb_chunks c
    where c.tenant_id = %(tenant_id)s and upper_inf(c.system_time) and not c.forgotten
    order by c.embedding <=> p.embedding limit %(neighbours)s) n
  join kb_chunks o on o.row_id = n.row_id and o.embedding_model = p.embedding_model
 where n.distance <= 1 - %(threshold)s::float8
   and (o.source_id, o.content_hash) <> (p.source_id, p.content_hash)
 group by 1, 2, 3, 4

-- name: standing
-- Texts as they stand: current, of a source that is on, and not superseded. Which are not there are left out.
-- A text that stands more than once in its source is named by its first place.
select c.source_id, c.content_hash, c.chunk_id, char_length(c.text) - c.overlap as characters,
       lower(c.system_time) as since, s.name as source_name, s.uri as source_uri, s.tenant_id, s.sensitivity,
       s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance, s.producer, s.trust,
       p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity, p.expires_at as chunk_expires_at,
       p.permitted_roles as chunk_permitted_roles, p.allowed_purposes as chunk_allowed_purposes, p.content_class,
       p.validation_status
  from unnest(%(sources)s::uuid[], %(hashes)s::text[]) as w (source_id, content_hash)
 cross join lateral (
   select * from kb_chunks k
    where k.source_id = w.source_id and k.content_hash = w.content_hash and upper_inf(k.system_time) and not k.forgotten
    order by k.chunk_index limit 1) c
  join kb_sources s on s.id = c.source_id and s.active
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 where (c.source_id, c.content_hash) not in (select x.source_id, x.content_hash from superseded_v2(null, null) x)

-- name: texts
-- The two texts of a proposal as they were last, superseded or not, with the policies that count now.
select w.part, c.chunk_id, c.source_id,
       case when upper_inf(c.system_time) then s.current_version else v.version end as version, substr(c.text, c.overlap + 1) as text, s.name as source_name,
       s.uri as source_uri, s.tenant_id, s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, s.provenance,
       s.producer, s.trust, p.source_id is not null as chunk_has_policy, p.sensitivity as chunk_sensitivity,
       p.expires_at as chunk_expires_at, p.permitted_roles as chunk_permitted_roles,
       p.allowed_purposes as chunk_allowed_purposes, p.content_class, p.validation_status
  from unnest(array['kept', 'other'], %(sources)s::uuid[], %(hashes)s::text[]) as w (part, source_id, content_hash)
 cross join lateral (
   select * from kb_chunks k
    where k.source_id = w.source_id and k.content_hash = w.content_hash and not k.forgotten
    order by upper_inf(k.system_time) desc, upper(k.system_time) desc, k.chunk_index limit 1) c
  join kb_sources s on s.id = c.source_id
  left join kb_versions v on v.source_id = c.source_id and v.system_time @> lower(c.system_time)
  left join chunk_policies p on p.source_id = c.source_id and p.content_hash = c.content_hash
 order by w.part

-- name: lock
-- One scan of a tenant at a time, so that the bound on what is open holds.
select pg_advisory_xact_lock(hashtextextended('larder consolidation ' || %(tenant_id)s::text, 0))

-- name: count_open
select count(*) from consolidation_proposals
 where tenant_id = %(tenant_id)s and state = 'open' and kind = 'extractive'

-- name: unasked
-- Which of these pairs nobody was asked about, and whose text to make way isn't asked to make way for another now.
select n.pair
  from unnest(%(pairs)s::text[], %(sources)s::uuid[], %(hashes)s::text[]) as n (pair, other_source_id, other_hash)
 where not exists (
   select from consolidation_proposals d
    where d.tenant_id = %(tenant_id)s and d.kind = 'extractive'
      and d.pair = n.pair and d.state in ('open', 'accepted', 'rejected', 'undone'))
   and not exists (
     select from consolidation_proposals d
      where d.kind = 'extractive' and d.state = 'open'
        and d.other_source_id = n.other_source_id and d.other_hash = n.other_hash)

-- name: propose
insert into consolidation_proposals (tenant_id, kind, state, pair, similarity, kept_source_id, kept_hash, kept_chunk_id,
                                     other_source_id, other_hash, other_chunk_id, policy_digest, created_at)
values (%(tenant_id)s, %(kind)s, %(state)s, %(pair)s, %(similarity)s, %(kept_source_id)s, %(kept_hash)s, %(kept_chunk_id)s,
        %(other_source_id)s, %(other_hash)s, %(other_chunk_id)s, %(policy_digest)s, %(now)s)
on conflict do nothing
returning id

-- name: page
select d.id, d.kind, d.state, d.pair, d.similarity, d.kept_source_id, d.kept_hash, d.kept_chunk_id, d.other_source_id,
       d.other_hash, d.other_chunk_id, d.policy_digest, d.redactions, d.model, d.reason, d.deposited_source_id,
       d.quarantine_id, d.created_at, d.decided_at, k.name as kept_source_name, o.name as other_source_name
  from consolidation_proposals d
  join kb_sources k on k.id = d.kept_source_id join kb_sources o on o.id = d.other_source_id
 where d.tenant_id = %(tenant_id)s and d.state = %(state)s
   and (%(after_time)s::timestamptz is null or (d.created_at, d.id) > (%(after_time)s, %(after_id)s))
 order by d.created_at, d.id limit %(limit)s

-- name: get
select d.id, d.kind, d.state, d.pair, d.similarity, d.kept_source_id, d.kept_hash, d.kept_chunk_id, d.other_source_id,
       d.other_hash, d.other_chunk_id, d.policy_digest, d.redactions, d.model, d.reason, d.deposited_source_id,
       d.quarantine_id, d.created_at, d.decided_at, k.name as kept_source_name, o.name as other_source_name
  from consolidation_proposals d
  join kb_sources k on k.id = d.kept_source_id join kb_sources o on o.id = d.other_source_id
 where d.id = %(id)s

-- name: state_for_update
select state from consolidation_proposals where id = %(id)s for update

-- name: decide
-- What was written is kept only while it is proposed.
update consolidation_proposals
   set state = %(state)s, reason = %(reason)s, decided_at = %(now)s, decided_by = %(decided_by)s, text = null,
       deposited_source_id = %(deposited_source_id)s
 where id = %(id)s

-- name: end_ring
-- Of the acceptances by which the text to keep makes way itself: those at whose end it would make way for the one that
-- is to make way for it. Without them no text ever waits for itself.
with recursive waits as (
  select %(other_source_id)s::uuid as source_id, %(other_hash)s as content_hash
  union
  select x.source_id, x.content_hash
    from waits w join consolidation_proposals p on p.kept_source_id = w.source_id and p.kept_hash = w.content_hash
    join superseded_chunks x on x.proposal_id = p.id and upper_inf(x.period)
)
update superseded_chunks x
   set period = tstzrange(lower(x.period), greatest(%(now)s, lower(x.period) + interval '1 microsecond'))
  from consolidation_proposals p join waits w on w.source_id = p.kept_source_id and w.content_hash = p.kept_hash
 where p.id = x.proposal_id and upper_inf(x.period)
   and x.source_id = %(kept_source_id)s and x.content_hash = %(kept_hash)s
returning x.proposal_id

-- name: supersede
insert into superseded_chunks (tenant_id, source_id, content_hash, kept_source_id, kept_chunk_id, proposal_id, period)
values (%(tenant_id)s, %(other_source_id)s, %(other_hash)s, %(kept_source_id)s, %(kept_chunk_id)s, %(id)s,
        tstzrange(%(now)s, null))

-- name: restore
update superseded_chunks
   set period = tstzrange(lower(period), greatest(%(now)s, lower(period) + interval '1 microsecond'))
 where proposal_id = %(id)s and upper_inf(period)

-- name: count_writing
select count(*) from consolidation_work where tenant_id = %(tenant_id)s

-- name: enqueue
insert into consolidation_work (proposal_id, tenant_id, correlation_id, created_at)
values (%(id)s, %(tenant_id)s, %(correlation_id)s, %(now)s)

-- name: dispatch
-- What was never sent, or was sent so long ago that the message or its worker must be lost. Whose it is doesn't matter.
update consolidation_work set dispatched_at = %(now)s
 where proposal_id = any (array(
   select w.proposal_id from consolidation_work w join tenants t on t.id = w.tenant_id and t.enabled
    where (w.dispatched_at is null or w.dispatched_at <= %(before)s)
      and (w.lease_until is null or w.lease_until <= %(now)s)
    order by w.created_at limit %(limit)s for update of w skip locked))
returning proposal_id, correlation_id

-- name: undo_dispatch
update consolidation_work set dispatched_at = null where proposal_id = any (%(ids)s)

-- name: lease
-- Not of a tenant that was switched off since it was sent: once it is on again, what was lost is sent again.
update consolidation_work w set lease_token = %(token)s, lease_until = %(until)s, leases = w.leases + 1
  from tenants t
 where w.proposal_id = %(id)s and (w.lease_until is null or w.lease_until <= %(now)s) and t.id = w.tenant_id and t.enabled
returning w.tenant_id, w.leases, w.correlation_id

-- name: release
update consolidation_work set lease_token = null, lease_until = null
 where proposal_id = %(id)s and lease_token = %(token)s

-- name: lock_work
select proposal_id from consolidation_work where proposal_id = %(id)s and lease_token = %(token)s for update

-- name: being_written
-- What is being written of a pair.
select id from consolidation_proposals
 where tenant_id = %(tenant_id)s and pair = %(pair)s and kind = 'written' and state = 'writing' for update

-- name: end_work
delete from consolidation_work where proposal_id = %(id)s

-- name: end_writing
update consolidation_proposals set state = %(state)s, reason = %(reason)s, decided_at = %(now)s
 where id = %(id)s and state = 'writing'

-- name: keep_written
update consolidation_proposals set state = 'open', text = %(text)s, redactions = %(redactions)s, model = %(model)s
 where id = %(id)s and state = 'writing'

-- name: written
select text from consolidation_proposals where id = %(id)s
