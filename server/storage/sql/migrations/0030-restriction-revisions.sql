-- The revision of the chat that changed a restriction last: a node reads only what changed since the revision that it
-- knows, not the up to 10,000 restrictions of a stream. A lifted restriction stays for some revisions, with `until` 0.
alter table restricted_viewers add column revision bigint not null default 0;
create index restricted_viewers_by_revision on restricted_viewers (stream_id, revision);
-- The revisions that this version counted. A change by an earlier version increments `revision` alone, after which nodes
-- read all restrictions of the stream.
alter table chat_rooms add column numbered bigint not null default 0;
