-- A viewer reads and erases its contact details without a search of all rounds of its stream.
create index winners_rounds_with_note on winners_rounds (stream_id, number) where contact_note is not null;
create index winner_contacts_of_seat on winner_contacts (seat, round);
