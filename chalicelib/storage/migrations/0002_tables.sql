-- Tenants, their tokens, and the limits of their plans.

create table plans (
  name text primary key,
  kb_sources integer not null check (kb_sources >= 0)
);
insert into plans (name, kb_sources) values ('free', 25), ('team', 500), ('scale', 10000);

create table tenants (
  id uuid primary key default gen_random_uuid(),
  name text not null unique check (length(name) between 1 and 200),
  plan text not null references plans,
  enabled boolean not null default true,
  timezone text not null default 'UTC',
  night_start time not null default '22:00',
  night_end time not null default '06:00',
  nightly_job_cap integer not null default 50 check (nightly_job_cap between 1 and 10000),
  mutations_per_hour integer check (mutations_per_hour > 0),  -- null: the deployment's default
  created_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp()
);

create table api_tokens (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  class text not null check (class in ('api', 'admin', 'agent', 'assistant', 'widget')),
  label text not null default '',
  operator_name text,  -- an admin token minted for a named person; null for every other token
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_tokens_tenant on api_tokens (tenant_id);

-- One row a tenant: a window that begins with its first mutation.
create table mutation_windows (
  tenant_id uuid primary key references tenants on delete cascade,
  started_at timestamptz not null,
  used integer not null
);

-- Sources and what they said.

create table kb_sources (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  uri text not null,
  type text not null default 'url' check (type in ('url', 'note', 'document')),
  name text not null,
  refresh_ttl_seconds integer not null default 604800 check (refresh_ttl_seconds between 300 and 31536000),
  active boolean not null default true,
  published boolean not null default false,
  keep_hidden_text boolean not null default false,
  generation integer not null default 1,        -- raised by every edit of the uri
  etag text,
  last_modified text,
  last_attempt_at timestamptz,                  -- any try
  last_checked_at timestamptz,                  -- the freshness clock: a new version, or confirmed unchanged
  last_changed_at timestamptz,                  -- the last new version
  last_unconditional_at timestamptz,            -- the last answered check that sent no validators
  last_status text,
  last_error text,
  gone_in_a_row integer not null default 0,     -- 404 and 410, one after the other
  body_hash text,                               -- SHA-256 of the last accepted body and its type: the same again is not parsed
  pipeline text,                                -- versions of extractor, chunker and secret rules at the last check
  redirect_to text,                             -- where a permanent redirect leads, and since when
  redirect_since timestamptz,
  current_version integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (tenant_id, uri),
  unique (tenant_id, id)                        -- so that whatever points to a source points to one of its own tenant
);
create index kb_sources_page on kb_sources (tenant_id, created_at, id);
create index kb_sources_inactive on kb_sources (tenant_id) where not active;

create type uuidrange as range (subtype = uuid);

create table kb_versions (
  source_id uuid not null,
  version integer not null check (version > 0),
  tenant_id uuid not null,
  system_time tstzrange not null check (not isempty(system_time) and lower_inc(system_time) and not upper_inc(system_time)),
  event_id uuid unique,                         -- one event writes one version at most
  content_hash text not null,
  title text,
  language text,
  description text,
  canonical_url text,
  final_url text not null,
  character_count integer not null,
  chunk_count integer not null,
  invisible_removed integer not null default 0,
  secrets_redacted integer not null default 0,
  extractor_version integer not null,
  chunker_version integer not null,
  secret_rules_version integer not null,
  fetched_at timestamptz not null,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (source_id, version),
  constraint one_version_at_an_instant
    exclude using gist (uuidrange(source_id, source_id, '[]') with &&, system_time with &&),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index kb_versions_tenant on kb_versions (tenant_id);

create table kb_chunks (
  row_id bigint generated always as identity primary key,
  tenant_id uuid not null,
  source_id uuid not null,
  chunk_id uuid not null,                       -- keeps its value while the text does, wherever it moves
  chunk_index integer not null check (chunk_index >= 0),
  overlap integer not null check (overlap between 0 and 150),
  text text not null check (length(text) between 1 and 1200),
  content_hash text not null,                   -- of the chunk's own part, without its overlap
  embedding_model text not null,
  embedding vector(384) not null,
  words tsvector generated always as (to_tsvector('english', substr(text, overlap + 1))) stored,
  system_time tstzrange not null check (not isempty(system_time) and lower_inc(system_time) and not upper_inc(system_time)),
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
-- 384 floats beside 1 200 characters would be moved out of line; kept in line exact scans are four times faster.
alter table kb_chunks alter column embedding set storage plain;
create unique index kb_chunks_open on kb_chunks (source_id, chunk_index) where upper_inf(system_time);
create index kb_chunks_open_tenant on kb_chunks (tenant_id) where upper_inf(system_time);
create index kb_chunks_open_words on kb_chunks using gin (words) where upper_inf(system_time);
create index kb_chunks_open_embedding on kb_chunks using hnsw (embedding vector_cosine_ops) where upper_inf(system_time);
create index kb_chunks_history on kb_chunks (source_id, chunk_index);
create index kb_chunks_tenant on kb_chunks (tenant_id) where not upper_inf(system_time);
create index kb_chunks_identity on kb_chunks (chunk_id);

-- Text that looked doubtful waits here until a person has decided; it is no version yet.
create table kb_held_texts (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null,
  source_id uuid not null,
  reason text not null,
  base_version integer,                         -- the version that was current when it was held
  text text not null,
  title text,
  language text,
  description text,
  canonical_url text,
  final_url text not null,
  invisible_removed integer not null default 0,
  secrets_redacted integer not null default 0,
  extractor_version integer not null,
  secret_rules_version integer not null,
  fetched_at timestamptz not null,
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create index kb_held_texts_source on kb_held_texts (source_id);
create index kb_held_texts_tenant on kb_held_texts (tenant_id);

-- Embeddings by model and text: equal text is embedded once, whoever's it is.
create table embedding_cache (
  model_id text not null,
  text_hash bytea not null,
  embedding vector(384) not null,
  last_used_at timestamptz not null,
  primary key (model_id, text_hash)
);
alter table embedding_cache alter column embedding set storage plain;
create index embedding_cache_age on embedding_cache (last_used_at);

-- What people are asked, and what they answered.

create table kb_suggestions (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  source_id uuid not null,
  kind text not null check (kind in ('refresh', 'review_change', 'change_uri', 'merge', 'gone')),
  state text not null default 'open' check (state in ('open', 'snoozed', 'approved', 'dismissed', 'closed')),
  reason text not null,
  detail jsonb not null default '{}',
  held_text_id uuid references kb_held_texts on delete set null,
  event_id uuid,
  stale_since timestamptz,
  created_at timestamptz not null,
  snoozed_until timestamptz,
  decided_at timestamptz,
  decided_by uuid,
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
-- Idempotent by this index: two readers at once make one row; a snoozed one holds the place.
create unique index kb_suggestions_one_open on kb_suggestions (source_id, kind) where state in ('open', 'snoozed');
create index kb_suggestions_page on kb_suggestions (tenant_id, state, created_at, id);
create index kb_suggestions_source on kb_suggestions (source_id, kind, decided_at);

-- Work.

create table kb_events (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid not null references tenants on delete cascade,
  source_id uuid not null,
  kind text not null default 'KB_REFRESH_SOURCE' check (kind in ('KB_REFRESH_SOURCE', 'KB_PUBLISH_REVIEW')),
  state text not null default 'pending'
    check (state in ('pending', 'dispatched', 'running', 'done', 'failed', 'skipped', 'cancelled')),
  night boolean not null,                       -- waits for the tenant's night and counts against its cap
  available_at timestamptz not null,
  approved_at timestamptz not null,
  source_generation integer not null,           -- of the source when it was approved
  held_text_id uuid references kb_held_texts on delete set null,
  correlation_id text,
  counted_night date,                           -- the night whose cap it used
  attempts integer not null default 0,          -- tries that ended in a failure
  leases integer not null default 0,            -- leases that have ended without an outcome, and the running one
  dispatched_at timestamptz,
  lease_token uuid,
  lease_until timestamptz,
  outcome text,
  error text,
  created_at timestamptz not null,
  finished_at timestamptz,
  foreign key (tenant_id, source_id) references kb_sources (tenant_id, id) on delete cascade
);
create unique index kb_events_one_open on kb_events (source_id) where state in ('pending', 'dispatched', 'running');
create index kb_events_due on kb_events (tenant_id, available_at) where state = 'pending';
create index kb_events_dispatched on kb_events (dispatched_at) where state = 'dispatched';
create index kb_events_running on kb_events (lease_until) where state = 'running';
create index kb_events_page on kb_events (tenant_id, created_at, id);

-- The dispatcher reads this index alone: one row a tenant, due when the tenant's first event is.
create table kb_run_queue (
  tenant_id uuid primary key references tenants on delete cascade,
  next_at timestamptz not null
);
create index kb_run_queue_next on kb_run_queue (next_at);

create table kb_night_use (
  tenant_id uuid not null references tenants on delete cascade,
  night_id date not null,
  used integer not null default 0,
  primary key (tenant_id, night_id)
);

-- One fetch at a time a host, and its Retry-After, whoever asks.
create table host_leases (
  host text primary key,
  lease_token uuid,
  lease_until timestamptz not null,
  not_before timestamptz not null
);

create table scheduler_state (
  only_row boolean primary key default true check (only_row),
  last_tick_at timestamptz not null
);
