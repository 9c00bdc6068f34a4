-- Roles belong to the cluster, not to the database: another database may have made them already.
-- larder_app      the API function: sees one tenant at a time, owns nothing
-- larder_worker   tick and worker: sees events of all tenants, everything else one tenant at a time
-- larder_reader   nobody logs in as it; it owns the two look-ups that run as SECURITY DEFINER
do $$
declare
  wanted text;
begin
  foreach wanted in array array['larder_app login', 'larder_worker login', 'larder_reader nologin'] loop
    begin
      execute 'create role ' || wanted;
    exception
      when duplicate_object or unique_violation then null;
    end;
  end loop;
  -- To hand functions over to larder_reader, and to say who may call them, the migrating role must act as it.
  execute format('grant larder_reader to %I', current_user);
exception
  when others then
    if not pg_has_role(current_user, 'larder_reader', 'set') then
      raise;
    end if;
end
$$;

-- A statement that hangs must not hold a connection: limits belong to the role, so no pooler can lose them.
do $$
begin
  alter role larder_app set statement_timeout = '15s';
  alter role larder_app set lock_timeout = '5s';
  alter role larder_app set idle_in_transaction_session_timeout = '30s';
  alter role larder_worker set statement_timeout = '60s';
  alter role larder_worker set lock_timeout = '10s';
  alter role larder_worker set idle_in_transaction_session_timeout = '60s';
exception
  when insufficient_privilege then
    raise notice 'role timeouts not set: they belong to the role that created larder_app and larder_worker';
end
$$;

grant usage on schema public to larder_app, larder_worker, larder_reader;
