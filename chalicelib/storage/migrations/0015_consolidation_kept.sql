-- A pair that was accepted is not asked about again as long as that holds, and no reader loses a text by an acceptance.
-- What stands from before: acceptances that a later one had ended, questions about pairs that were accepted already, and
-- written texts in quarantine, where nothing ties them to the texts that they were made of.
alter table consolidation_proposals no force row level security;
alter table superseded_chunks no force row level security;
alter table quarantine no force row level security;
update consolidation_proposals p set state = 'lapsed', reason = 'another_way'
 where kind = 'extractive' and state = 'accepted'
   and not exists (select from superseded_chunks x where x.proposal_id = p.id and upper_inf(x.period));
update consolidation_proposals p set state = 'lapsed', reason = 'asked_twice'
 where kind = 'extractive' and state in ('open', 'rejected', 'undone')
   and exists (select from consolidation_proposals o
                where o.tenant_id = p.tenant_id and o.pair = p.pair and o.kind = 'extractive' and o.state = 'accepted');
update quarantine set state = 'dropped', text = '[dropped]', title = null, decided_at = now()
 where deposit = 'consolidated' and state = 'held';
alter table consolidation_proposals force row level security;
alter table superseded_chunks force row level security;
alter table quarantine force row level security;

create unique index consolidation_pair_once on consolidation_proposals (tenant_id, pair)
  where kind = 'extractive' and state in ('open', 'accepted', 'rejected', 'undone');
drop index consolidation_one_a_pair;
-- A text may make way for several, of which one is there.
create index superseded_chunks_current on superseded_chunks (source_id, content_hash) where upper_inf(period);
drop index superseded_chunks_open;

-- What a source's and a text's own policy say together, for whom and how long, as domain/policy.py has it; a test holds the
-- two together. Who gave the text, and how far that is trusted, are no rules.
create function tier_rank_v1(p_tier text) returns integer language sql immutable
begin atomic
  select case coalesce(nullif(p_tier, ''), 'internal')
         when 'public' then 1 when 'internal' then 2 when 'confidential' then 3 else 4 end;
end;

create function names_of_both_v1(p_one text[], p_other text[]) returns text[] language sql immutable
begin atomic
  select array(select distinct n.name from unnest(coalesce(p_one, p_other)) as n (name)
                where n.name = any (coalesce(p_other, p_one)) order by 1);
end;

create function policy_rules_v1(
  p_sensitivity text, p_expires_at timestamptz, p_roles text[], p_purposes text[], p_own_sensitivity text,
  p_own_expires_at timestamptz, p_own_roles text[], p_own_purposes text[], p_class text, p_status text)
returns jsonb language sql stable
begin atomic
  select jsonb_build_array(
    case when p_class = 'credentials' then 4
         when p_own_sensitivity <> '' then greatest(tier_rank_v1(p_sensitivity), tier_rank_v1(p_own_sensitivity))
         else tier_rank_v1(p_sensitivity) end,
    extract(epoch from least(p_expires_at, p_own_expires_at)),
    case when p_roles is null and p_own_roles is null then null else names_of_both_v1(p_roles, p_own_roles) end,
    case when p_purposes is null and p_own_purposes is null then null else names_of_both_v1(p_purposes, p_own_purposes) end,
    p_class is not distinct from 'credentials',
    coalesce(p_status, ''));
end;
revoke all on function tier_rank_v1, names_of_both_v1, policy_rules_v1 from public;
grant execute on function tier_rank_v1, names_of_both_v1, policy_rules_v1
  to larder_app, larder_worker, larder_public, larder_internal;

-- The texts that a search passes over, now or as of an instant: each whose stand-in is current, switched on, among the
-- sources asked, to be seen by who asks, and under the same rules. So whoever may read the one may read the other.
-- PL/pgSQL keeps its plan, which takes longer to make than most searches.
create function superseded_v2(p_sources uuid[], p_at timestamptz) returns table (source_id uuid, content_hash text)
language plpgsql stable rows 50 as $$
begin
  return query
  select x.source_id, x.content_hash
    from public.superseded_chunks x
    join public.kb_sources o on o.id = x.kept_source_id and o.active
    join public.kb_sources s on s.id = x.source_id
    left join public.chunk_policies p on p.source_id = x.source_id and p.content_hash = x.content_hash
   cross join lateral (
     select k.content_hash from public.kb_chunks k
      where k.chunk_id = x.kept_chunk_id and not k.forgotten
        and case when p_at is null then upper_inf(k.system_time) else k.system_time @> p_at end
      limit 1) k
    left join public.chunk_policies q on q.source_id = x.kept_source_id and q.content_hash = k.content_hash
   where x.tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
     and case when p_at is null then upper_inf(x.period) else x.period @> p_at end
     and (p_sources is null or x.kept_source_id = any (p_sources))
     and case  -- the same columns mean the same, and are soon compared
       when (s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, p.sensitivity, p.expires_at,
             p.permitted_roles, p.allowed_purposes, p.content_class, p.validation_status) is not distinct from
            (o.sensitivity, o.expires_at, o.permitted_roles, o.allowed_purposes, q.sensitivity, q.expires_at,
             q.permitted_roles, q.allowed_purposes, q.content_class, q.validation_status) then true
       else public.policy_rules_v1(s.sensitivity, s.expires_at, s.permitted_roles, s.allowed_purposes, p.sensitivity,
                                   p.expires_at, p.permitted_roles, p.allowed_purposes, p.content_class, p.validation_status)
            = public.policy_rules_v1(o.sensitivity, o.expires_at, o.permitted_roles, o.allowed_purposes, q.sensitivity,
                                     q.expires_at, q.permitted_roles, q.allowed_purposes, q.content_class, q.validation_status)
       end;
end
$$;
revoke all on function superseded_v2 from public;
grant execute on function superseded_v2 to larder_app, larder_worker, larder_public, larder_internal;

-- search_words_v2 that is told what to pass over by who asks, and so passes over what the search by meaning does: this
-- function sees more than its caller. Arrays run side by side.
create function search_words_v3(
  p_query text, p_sources uuid[], p_passed_sources uuid[], p_passed_hashes text[], p_limit integer)
returns table (row_id bigint, rank real)
language plpgsql stable security definer set search_path = pg_catalog, public rows 50
as $$
declare
  v_tenant uuid := nullif(current_setting('larder.tenant_id', true), '')::uuid;
  v_all tsquery := query_words_v1(p_query);
  v_any tsquery;
begin
  return query
    select c.row_id, ts_rank_cd(c.words, v_all)
      from kb_chunks c join kb_sources s on s.id = c.source_id
     where c.tenant_id = v_tenant and upper_inf(c.system_time) and c.words @@ v_all
       and s.active and (p_sources is null or c.source_id = any (p_sources))
       and (c.source_id, c.content_hash) not in (
         select x.source_id, x.content_hash from unnest(p_passed_sources, p_passed_hashes) as x (source_id, content_hash))
     order by 2 desc, 1 limit p_limit;
  if found then
    return;
  end if;
  v_any := any_of_words_v1(p_query);
  return query
    with candidate as materialized (
      select c.row_id, c.words
        from kb_chunks c join kb_sources s on s.id = c.source_id
       where c.tenant_id = v_tenant and upper_inf(c.system_time) and c.words @@ v_any
         and s.active and (p_sources is null or c.source_id = any (p_sources))
         and (c.source_id, c.content_hash) not in (
           select x.source_id, x.content_hash from unnest(p_passed_sources, p_passed_hashes) as x (source_id, content_hash))
       limit 2000
    )
    select k.row_id, ts_rank_cd(k.words, v_any) from candidate k order by 2 desc, 1 limit p_limit;
end
$$;

-- Whatever ends a proposal is in the admin audit, a forgotten text too.
create or replace function lapse_consolidation_v1() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  with lapsed as (
    update public.consolidation_proposals
       set state = 'lapsed', reason = 'forgotten', text = null, decided_at = new.forgotten_at
     where state in ('writing', 'open') and tenant_id = new.tenant_id
       and ((kept_source_id = new.source_id and kept_hash = new.content_hash)
            or (other_source_id = new.source_id and other_hash = new.content_hash))
    returning id
  ), noted as (
    insert into public.admin_audit (tenant_id, at, action, target, after)
      select new.tenant_id, new.forgotten_at, 'consolidation.lapsed', l.id::text, '{"reason": "forgotten"}' from lapsed l
  )
  delete from public.consolidation_work where proposal_id in (select id from lapsed);
  return null;
end
$$;
create policy noted on admin_audit for insert to larder_reader with check (action = 'consolidation.lapsed');
grant insert on admin_audit to larder_reader;

grant create on schema public to larder_reader;
alter function search_words_v3 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function search_words_v3 from public;
grant execute on function search_words_v3 to larder_app, larder_public, larder_internal;
