-- Each mute or ban read the 12,000 restrictions of its stream twice, and each request for winners the 2,000 quizzes of
-- its game, rows with texts: 10 ms each in the only writer of SQLite. A change of a webhook read the subscriptions of all.
create index restricted_viewers_by_end on restricted_viewers (stream_id, until, revision);
create index quizzes_not_revealed on quizzes (stream_id, game, number, state) where state <> 'revealed';
create index subscriptions_of_webhook on subscriptions (webhook);
