-- What a viewer called itself last in the chat, and the id of the message that had the name; null: it
-- wrote no message with a name.
alter table seats add column name text;
alter table seats add column named_by text;
