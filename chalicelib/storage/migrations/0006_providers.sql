-- Knowledge providers: who is asked, how they do, who asks.

create table knowledge_providers (
  id uuid primary key,
  tenant_id uuid not null references tenants on delete cascade,
  name text not null check (length(name) between 1 and 200),
  base_url text not null,
  exposure_profile text not null check (exposure_profile in ('customer_safe', 'agent_only')),
  secret bytea not null,                        -- AES-256-GCM: nonce, ciphertext, tag
  secret_key_id text not null,
  previous_secret bytea,                        -- good until previous_secret_until, then wiped
  previous_secret_key_id text,
  previous_secret_until timestamptz,
  secret_rotated_at timestamptz,
  module text,                                  -- 'larder': its answers come from this deployment's own knowledge base
  capabilities text[] not null default '{}',
  contract_version integer not null default 1 check (contract_version = 1),
  priority integer not null default 100,        -- lower goes first
  status text not null default 'active' check (status in ('active', 'disabled', 'auto_disabled')),
  allow_private_network boolean not null default false,
  send_conversation_id boolean not null default false,
  config_generation integer not null default 1, -- raised by any change of url, secret, capabilities, network, status
  label_warnings bigint not null default 0,     -- results that a customer_safe registration should not have sent
  last_label_warning_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, name),
  constraint conversations_stay_inside check (not send_conversation_id or exposure_profile = 'agent_only'),
  constraint previous_secret_is_whole
    check (num_nulls(previous_secret, previous_secret_key_id) in (0, 2)
           and (previous_secret is null or previous_secret_until is not null))
);
create index knowledge_providers_order on knowledge_providers (tenant_id, created_at, id);
create index knowledge_providers_overlap on knowledge_providers (previous_secret_until)
  where previous_secret is not null;

-- One row a provider and lane: what a public page causes must not close a provider for agents.
create table knowledge_circuits (
  provider_id uuid not null references knowledge_providers on delete cascade,
  lane text not null check (lane in ('main', 'widget')),
  tenant_id uuid not null,
  epoch bigint not null default 0,
  transient_failures integer not null default 0,
  hard_failures integer not null default 0,
  pauses integer not null default 0,
  open_until timestamptz,
  probe_until timestamptz,
  stopped boolean not null default false,
  last_failure text,                            -- its class
  last_reason text,                             -- for the operator: a word, a status, a rule; nothing that was sent
  last_failure_at timestamptz,
  primary key (provider_id, lane)
);
create index knowledge_circuits_tenant on knowledge_circuits (tenant_id);

-- What providers answered to agents a moment ago: operational data, not a copy of what they hold. Off by default.
create table knowledge_cache (
  provider_id uuid not null references knowledge_providers on delete cascade,
  key bytea not null,                           -- HMAC over everything that the answer depends on
  tenant_id uuid not null,
  results jsonb not null,                       -- after the labels were applied
  expires_at timestamptz not null,
  primary key (provider_id, key)
);
create index knowledge_cache_tenant on knowledge_cache (tenant_id, expires_at);
create index knowledge_cache_age on knowledge_cache (expires_at);

-- Nonces that were seen by Larder's own provider. Replicas agree by the primary key.
create table knowledge_nonces (
  provider_id uuid not null references knowledge_providers on delete cascade,
  nonce text not null,
  tenant_id uuid not null,
  keep_until timestamptz not null,
  primary key (provider_id, nonce)
);
create index knowledge_nonces_age on knowledge_nonces (keep_until);
create index knowledge_nonces_tenant on knowledge_nonces (tenant_id);

-- Who may ask: a named agent, an assistant that can write for customers, a widget in a public page.
create table knowledge_consumers (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  kind text not null check (kind in ('agent', 'assistant', 'widget')),
  name text not null check (length(name) between 1 and 200),
  active boolean not null default true,
  capabilities text[] not null default '{}',    -- default-deny; what can write for customers reads nothing internal
  origins text[] not null default '{}',         -- of a widget: the pages that may embed it
  token_id uuid not null unique references api_tokens on delete cascade,
  created_at timestamptz not null,
  unique (tenant_id, kind, name),
  constraint public_reads_alone check (capabilities <@ array['knowledge:read_public']),
  constraint assistants_have_capabilities check (kind = 'assistant' or capabilities = '{}'),
  constraint widgets_have_origins check ((kind = 'widget') = (origins <> '{}'))
);
create index knowledge_consumers_origins on knowledge_consumers using gin (origins) where kind = 'widget';

-- A widget's requests in a minute, by token and by address. An address is kept as a keyed hash.
create table widget_windows (
  tenant_id uuid not null references tenants on delete cascade,
  bucket text not null,
  started_at timestamptz not null,
  used integer not null,
  primary key (tenant_id, bucket)
);
create index widget_windows_age on widget_windows (started_at);

do $$
declare
  name text;
begin
  foreach name in array array[
    'knowledge_providers', 'knowledge_circuits', 'knowledge_cache', 'knowledge_nonces', 'knowledge_consumers',
    'widget_windows'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy own_tenant on %I to larder_app, larder_worker '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;

-- What a registration is for, whose it is and when it was made can't be changed: there is no right to.
grant select, insert, delete on knowledge_providers to larder_app;
grant update (name, base_url, secret, secret_key_id, previous_secret, previous_secret_key_id, previous_secret_until,
              secret_rotated_at, capabilities, priority, status, allow_private_network, send_conversation_id,
              config_generation, label_warnings, last_label_warning_at, updated_at) on knowledge_providers to larder_app;
grant select, insert, update, delete on knowledge_circuits to larder_app;
grant select, insert, update, delete on knowledge_cache to larder_app;
grant select, insert, delete on knowledge_nonces to larder_app;
grant select, insert, update, delete on knowledge_consumers to larder_app;
grant select, insert, update on widget_windows to larder_app;

-- The API makes tokens for those who ask, and none for those who administer.
grant insert, delete on api_tokens to larder_app;
grant select (id, tenant_id, class) on api_tokens to larder_app;
create policy consumers_only_in on api_tokens as restrictive for insert to larder_app
  with check (class in ('agent', 'assistant', 'widget'));
create policy consumers_only_out on api_tokens as restrictive for delete to larder_app
  using (class in ('agent', 'assistant', 'widget'));

-- The scheduled function takes out what has run out, whoever's it is, and sees nothing else of it.
create policy ran_out on knowledge_nonces to larder_worker using (keep_until < clock_timestamp() - interval '1 minute');
create policy ran_out on widget_windows to larder_worker using (started_at < clock_timestamp() - interval '10 minutes');
create policy ran_out on knowledge_cache to larder_worker using (expires_at < clock_timestamp());
create policy ran_out on knowledge_providers to larder_worker using (previous_secret_until < clock_timestamp());
grant select, delete on knowledge_nonces, knowledge_cache, widget_windows to larder_worker;
grant update (expires_at) on knowledge_cache to larder_worker;  -- to pass over rows that somebody holds
grant select (id, previous_secret, previous_secret_until) on knowledge_providers to larder_worker;
grant update (previous_secret, previous_secret_key_id) on knowledge_providers to larder_worker;

-- Two roles that the API puts on for a transaction, each with fewer rights than its own:
-- larder_public    what customers may reach: sources that are published and public, customer_safe registrations
-- larder_internal  the rest of the tenant's texts
do $$
declare
  wanted text;
begin
  foreach wanted in array array['larder_public', 'larder_internal'] loop
    begin
      execute format('create role %I nologin', wanted);
    exception
      when duplicate_object or unique_violation then null;
    end;
    begin
      execute format('grant %I to larder_app with inherit false, set true', wanted);
    exception
      when others then
        if not pg_has_role('larder_app', wanted, 'set') then
          raise;
        end if;
    end;
  end loop;
end
$$;
grant usage on schema public to larder_public, larder_internal;
grant select on kb_sources, kb_versions, kb_chunks, chunk_policies to larder_public, larder_internal;
grant select, insert on policy_evaluations to larder_public, larder_internal;
grant select, insert, update on evaluation_segments to larder_public, larder_internal;
grant execute on function search_words_v1 to larder_public, larder_internal;

do $$
declare
  name text;
begin
  foreach name in array array['chunk_policies', 'policy_evaluations', 'evaluation_segments'] loop
    execute format(
      'create policy within_tenant on %I to larder_public, larder_internal '
      'using (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid) '
      'with check (tenant_id = nullif(current_setting(''larder.tenant_id'', true), '''')::uuid)', name);
  end loop;
end
$$;

create policy published on kb_sources for select to larder_public
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and published and sensitivity = 'public');
create policy published on kb_versions for select to larder_public
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and source_id in (select s.id from kb_sources s));
create policy published on kb_chunks for select to larder_public
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and upper_inf(system_time)
         and source_id in (select s.id from kb_sources s)
         and not exists (select from chunk_policies p
                          where p.source_id = kb_chunks.source_id and p.content_hash = kb_chunks.content_hash
                            and (p.sensitivity not in ('', 'public') or p.content_class = 'credentials')));

create policy within_tenant on kb_sources for select to larder_internal
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid);
create policy within_tenant on kb_versions for select to larder_internal
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid);
create policy not_published on kb_chunks for select to larder_internal
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and (source_id not in (select s.id from kb_sources s where s.published and s.sensitivity = 'public')
              or exists (select from chunk_policies p
                          where p.source_id = kb_chunks.source_id and p.content_hash = kb_chunks.content_hash
                            and (p.sensitivity not in ('', 'public') or p.content_class = 'credentials'))));

create policy customer_safe on knowledge_providers to larder_public
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and exposure_profile = 'customer_safe')
  with check (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
              and exposure_profile = 'customer_safe');
create policy customer_safe on knowledge_circuits to larder_public
  using (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
         and provider_id in (select p.id from knowledge_providers p))
  with check (tenant_id = nullif(current_setting('larder.tenant_id', true), '')::uuid
              and provider_id in (select p.id from knowledge_providers p));
grant select on knowledge_providers to larder_public;
grant update (status, config_generation, label_warnings, last_label_warning_at, updated_at)
  on knowledge_providers to larder_public;
grant select, insert, update on knowledge_circuits to larder_public;

-- Look-ups from before a tenant is known: an own registration by the id in its URL, and whether an origin is anybody's.
create policy look_up on knowledge_providers for select to larder_reader using (module = 'larder');
create policy look_up on knowledge_consumers for select to larder_reader using (kind = 'widget');
grant select on knowledge_providers, knowledge_consumers to larder_reader;

create function find_own_registration_v1(p_id uuid)
returns table (id uuid, tenant_id uuid, tenant_enabled boolean)
language sql stable security definer set search_path = pg_catalog, public rows 1
begin atomic
  select p.id, p.tenant_id, t.enabled
    from public.knowledge_providers p join public.tenants t on t.id = p.tenant_id
   where p.id = p_id and p.module = 'larder';
end;

create function find_origin_v1(p_origin text)
returns boolean
language sql stable security definer set search_path = pg_catalog, public
begin atomic
  select exists (select from public.knowledge_consumers c
                  where c.kind = 'widget' and c.active and c.origins @> array[p_origin]);
end;

grant create on schema public to larder_reader;
alter function find_own_registration_v1 owner to larder_reader;
alter function find_origin_v1 owner to larder_reader;
revoke create on schema public from larder_reader;
revoke all on function find_own_registration_v1, find_origin_v1 from public;
grant execute on function find_own_registration_v1, find_origin_v1 to larder_app;
