-- What the winners of a round are asked when the producer asks for their contact details; null: not asked.
alter table winners_rounds add column contact_note text;
-- The contact details that winners gave, for the producer only.
create table winner_contacts (
  round integer not null references winners_rounds (number),
  seat integer not null,
  name text not null,
  contact text not null,
  created bigint not null,
  primary key (round, seat)
);
