-- The length of the output in characters; 0 for an output that is stored before this migration.
alter table idempotency_keys add column output_chars integer not null default 0;
-- Long outputs only (OUTPUT_CHARS_COUNTED): they count for their account.
create index idempotency_keys_long on idempotency_keys (owner, created, output_chars)
  where output_chars > 8192;
