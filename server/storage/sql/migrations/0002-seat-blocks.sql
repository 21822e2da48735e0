-- Nodes lease seats in blocks. The counter has a row of its own, so that leases do not wait for
-- transactions that lock the stream's row, nor the other way around.
create table seat_counters (
  stream_id text primary key,
  next_seat integer not null
);
insert into seat_counters (stream_id, next_seat)
select id, next_seat from streams where next_seat > 0;
alter table streams drop column next_seat;

-- Locked by every rotation of the signing keys, so that rotations run one after the other.
insert into counters (name, value) values ('signing-key', 0);
