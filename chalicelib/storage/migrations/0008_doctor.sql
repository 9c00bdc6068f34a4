-- What the doctor tells without reaching for it: the tick measures the queue, the ledger names the migrations.
alter table scheduler_state
  add column queue_depth integer,
  add column dead_letters integer,
  add column measured_at timestamptz;

grant select on schema_migrations to larder_app, larder_worker;
