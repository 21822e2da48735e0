-- What a stream sells. `price` is in minor units of the currency; `stock` is null while nobody counts it.
-- At most one product of a stream is shown to viewers. `number` orders them as they were created.
create table products (
  stream_id text not null references streams (id),
  id text not null,
  name text not null,
  picture_url text,
  price bigint not null,
  currency text not null,
  url text not null,
  stock integer,
  shown smallint not null default 0,
  number integer not null,
  primary key (stream_id, id)
);
-- Incremented by every change of the products; studio pages then reload them.
alter table streams add column products_revision integer not null default 0;
