-- Webhooks of an account: `events` lists the event types that are sent to `url`. The secret is stored
-- in plain text, because it signs deliveries. `failing_since` is the time of the first failure since the
-- last success.
create table webhooks (
  id text primary key,
  number bigint not null,
  account text not null references accounts (uuid),
  url text not null,
  events text not null,
  enabled smallint not null,
  disabled_reason text,
  secret text not null,
  old_secret text,
  old_secret_until bigint,
  failing_since bigint,
  created bigint not null
);
create index webhooks_of_account on webhooks (account, number);
insert into counters (name, value) values ('webhook', 0);

-- The event types of enabled webhooks. Sealing reads only this table, which is empty when no webhook is
-- enabled.
create table subscriptions (
  type text not null,
  account text not null,
  webhook text not null,
  primary key (type, account, webhook)
);

-- The event log: events with a subscriber that are not dispatched yet. The dispatcher turns them into
-- deliveries in batches, so that a thousand quizzes that close together, with twenty webhooks each, do
-- not delay sealing.
create table happenings (
  at bigint not null,
  type text not null,
  key text not null,
  stream_id text not null,
  data text not null,
  primary key (at, type, key)
);

-- The viewer count of each minute, for streams on air with a subscription to `audience.minute`. Sealing
-- updates it; it is dispatched when the minute is sealed.
create table audience_minutes (
  minute bigint not null,
  stream_id text not null,
  count integer not null,
  peak integer not null,
  primary key (minute, stream_id)
);
create index streams_on_air on streams (producer) where status = 'STREAMING';

-- Deliveries of events to webhooks. `id` is derived from webhook and event, so that no event is
-- delivered twice. `due` is the time of the next attempt; during an attempt it is the end of `lease`;
-- null when the delivery is finished.
create table deliveries (
  id text primary key,
  webhook text not null,
  type text not null,
  body text not null,
  created bigint not null,
  state text not null,
  due bigint,
  lease text,
  tries integer not null default 0,
  attempts text not null default '[]'
);
create index deliveries_of_webhook on deliveries (webhook, created, id);
create index deliveries_due on deliveries (due) where due is not null;
create index deliveries_waiting on deliveries (webhook, due) where due is not null;
