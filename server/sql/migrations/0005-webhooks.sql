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

-- What the enabled ones want, which is all of them that sealing looks at: where there are none, it
-- looks at an empty tree.
create table subscriptions (
  type text not null,
  account text not null,
  webhook text not null,
  primary key (type, account, webhook)
);

-- What a webhook is told. The id comes of the webhook and of what happened, so that nothing is told
-- twice. There is no reference to the webhook, whose lock sealing would wait for. `due` is when to send
-- it next, and while it is being sent, when its `lease` ends; null once there is nothing to send.
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

-- The minute that is under way of streams whose audience is told by the minute.
create table audience_minutes (
  stream_id text primary key,
  minute bigint not null,
  count integer not null,
  peak integer not null
);
create index streams_on_air on streams (producer) where status = 'STREAMING';
