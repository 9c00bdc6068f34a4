-- Sealing looks for heads that are not sealed yet among all that ever were.
create index evaluation_segments_unsealed on evaluation_segments (tenant_id, kind, day) where sealed_at is null;
