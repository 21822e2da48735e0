-- A list of 1,000 contact details read and sorted all of their round: with 100,000, 0.5 s of the only reader of SQLite.
create index winner_contacts_newest on winner_contacts (round, created desc, seat);
