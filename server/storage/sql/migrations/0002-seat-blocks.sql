-- Seats are leased in blocks, from rows of their own: who takes a block does not wait for a producer
-- at work on the stream, nor the producer for them.
create table seat_counters (
  stream_id text primary key,
  next_seat integer not null
);
insert into seat_counters (stream_id, next_seat)
select id, next_seat from streams where next_seat > 0;
alter table streams drop column next_seat;

-- Who rotates the signing keys locks this row first.
insert into counters (name, value) values ('signing-key', 0);
