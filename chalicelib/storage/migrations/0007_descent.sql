-- What descent tightens counts as said when that happened, so that a like of it that comes back later takes it over.
create or replace function inherit_policies_v1(p_source uuid, p_new text[], p_old text[], p_now timestamptz) returns void
language plpgsql as $$
declare
  v_pair record;
  v_policy chunk_policies;
  v_own chunk_policies;
begin
  for v_pair in select * from unnest(p_new, p_old) as l (new_hash, old_hash) loop
    select * into v_policy from chunk_policies where source_id = p_source and content_hash = v_pair.old_hash;
    continue when not found;
    select * into v_own from chunk_policies where source_id = p_source and content_hash = v_pair.new_hash;
    if found then
      v_policy := stricter_v1(v_own, v_policy);
      continue when v_policy is not distinct from v_own;
    end if;
    insert into chunk_policies (source_id, content_hash, tenant_id, sensitivity, expires_at, permitted_roles,
                                allowed_purposes, content_class, validation_status, updated_at)
      values (p_source, v_pair.new_hash, v_policy.tenant_id, v_policy.sensitivity, v_policy.expires_at,
              v_policy.permitted_roles, v_policy.allowed_purposes, v_policy.content_class, v_policy.validation_status,
              greatest(p_now, (select max(l.updated_at) from chunk_policies l where l.source_id = p_source)))
      on conflict (source_id, content_hash) do update
        set sensitivity = excluded.sensitivity, expires_at = excluded.expires_at,
            permitted_roles = excluded.permitted_roles, allowed_purposes = excluded.allowed_purposes,
            content_class = excluded.content_class, validation_status = excluded.validation_status,
            updated_at = excluded.updated_at;
  end loop;
end
$$;
