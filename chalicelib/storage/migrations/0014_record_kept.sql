-- Sealing looks for heads that are not sealed yet among all that ever were.
create index evaluation_segments_unsealed on evaluation_segments (tenant_id, kind, day) where sealed_at is null;

-- Of the ingest log goes what is older than it must be kept: 30 days for a text that came in as it was, a year for the rest.
create index ingest_log_admitted on ingest_log (at) where outcome = 'admit' and redactions = 0;
create index ingest_log_rest on ingest_log (at) where not (outcome = 'admit' and redactions = 0);
create policy ran_out on ingest_log to larder_worker
  using (at < clock_timestamp() - case when outcome = 'admit' and redactions = 0 then interval '30 days'
                                       else interval '365 days' end);
grant delete on ingest_log to larder_worker;
