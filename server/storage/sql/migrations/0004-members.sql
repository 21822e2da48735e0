-- Members, who sign in to the studio; each belongs to one account. `email` is in lower case; `password`
-- is the hash with its salt and cost.
create table members (
  uuid text primary key,
  number bigint not null,
  account text not null references accounts (uuid),
  email text not null unique,
  name text not null,
  role text not null,
  password text not null,
  created bigint not null
);
create index members_of_account on members (account, number);

-- Sessions of members. `hash` is the SHA-256 of the cookie's secret, and `seen` the last recorded use.
create table sessions (
  hash text primary key,
  member text not null references members (uuid),
  created bigint not null,
  seen bigint not null
);
create index sessions_of_member on sessions (member, seen);
create index sessions_by_seen on sessions (seen);
create index sessions_by_created on sessions (created);

-- One-time links. `hash` is the SHA-256 of the link's secret. `setup` creates the first account,
-- `invitation` a member, and `password` sets the password of a member. Only invitations have a role;
-- setup links have neither account nor email.
create table links (
  id text primary key,
  number bigint not null,
  kind text not null,
  hash text not null unique,
  account text references accounts (uuid),
  email text,
  role text,
  created bigint not null,
  expires bigint not null
);
create index links_of_account on links (account, kind, email);
create index links_to_set_up on links (number) where kind = 'setup';
create index links_by_expires on links (expires);

insert into counters (name, value) values ('member', 0), ('link', 0);
