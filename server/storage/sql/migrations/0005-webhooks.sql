-- Webhooks: whom an account wants told of what happens, and what each of them is told. The secret is
-- kept as it is, since it signs. `failing_since` is when the first failure after the last success was.
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

-- What the enabled ones want, which is all of them that others look at: where there are none, sealing
-- looks at an empty tree.
create table subscriptions (
  type text not null,
  account text not null,
  webhook text not null,
  primary key (type, account, webhook)
);

-- What happened and somebody wants to be told of. It is put before each of them later, a few at a time:
-- a thousand quizzes that close together, and twenty webhooks for each, hold up no sealing.
create table happenings (
  at bigint not null,
  type text not null,
  key text not null,
  stream_id text not null,
  data text not null,
  primary key (at, type, key)
);

-- The audience by the minute, of streams on air whose producer wants to be told: counted on by sealing,
-- and told once the minute is over.
create table audience_minutes (
  minute bigint not null,
  stream_id text not null,
  count integer not null,
  peak integer not null,
  primary key (minute, stream_id)
);
create index streams_on_air on streams (producer) where status = 'STREAMING';

-- What a webhook is told. The id comes of the webhook and of what happened, so that nothing is told
-- twice. `due` is when to send it next, and while it is being sent, when its `lease` ends; null once
-- there is nothing to send.
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
