/** All constants of the interface and all limits on requests. */

/** Lifetime of a viewer token in seconds (interface, Limits). */
export const TOKEN_LIFETIME_S = 600;
/** How long a registration counts a viewer, in ms, rounded up to the end of an interval. */
export const REGISTRATION_MS = 1000;
/** Intervals between `request-quiz-winners` and `quiz-winners`: one second. */
export const WINNERS_DELAY_INTERVALS = 4;
/**
 * After a sealing that skipped intervals, the count of a round that was open then follows this many intervals
 * later: viewers may need 3 s to get the request, or 2 s until they report again.
 */
export const WINNERS_PROLONGED_INTERVALS = 16;
/**
 * If that sealing has the request itself, the count follows still later: by as many intervals as it skipped, at most
 * this many. Viewers who poll read eight intervals a second until they get the request.
 */
export const WINNERS_CATCH_UP_INTERVALS_MAX = 24;
/** A later sealing prolongs no round whose request is older: most viewers have stopped reporting then. */
export const WINNERS_PROLONGED_MAX_MS = 10_000;
/** For this many intervals after a winners round, the report of a counted winner is acknowledged again. */
export const WINNERS_REPEATED_INTERVALS = 40;
/** How many intervals ahead of the current one a feed request may be; it waits instead of failing. */
export const AHEAD_INTERVALS = 4;
/**
 * Playback qualities of every stream (interface, Playback variants): width and height of the input are
 * divided by `divisor`; `megabytesPerS` is the maximum data rate of the quality.
 */
export const PLAYBACK_LADDER = [
  { name: 'High', divisor: 1, megabytesPerS: 2.4 },
  { name: 'Medium', divisor: 2, megabytesPerS: 1.2 },
  { name: 'Low', divisor: 3, megabytesPerS: 0.8 },
] as const;
/** Most elements in each array of one `chats` event. */
export const CHAT_SAMPLE = 50;
/**
 * Most bytes of viewers' messages in one interval of a stream, and of one client in one interval of all streams
 * of a node: 128 KB/s, a sixth of the lowest playback quality.
 */
export const CHAT_BYTES = 32 * 1024;
/**
 * Most bytes of one client's messages in an interval of a stream: 32 KB/s, over 100 ordinary messages a second.
 * With 32 KB, 50 seats of one address made each viewer of a stream download 1 Mbit/s.
 */
export const CHAT_CLIENT_BYTES = 8 * 1024;
/** Number of messages of a client that are selected for an interval before those of others are all in. */
export const CHAT_TURN = 10;

/** Most seats of one stream: 2^24, so that its presence stays within five bitsets of 2 MB. */
export const SEATS_MAX = 16_777_216;

/** Largest request body on viewer routes, in bytes. */
export const VIEWER_BODY_BYTES = 4 * 1024;
/** Largest request body anywhere else, in bytes. */
export const BODY_BYTES = 16 * 1024;
/** Largest body with the order of a rundown: fits the ids of all quizzes of a stream. */
export const ORDER_BODY_BYTES = 128 * 1024;
/** Largest body with quizzes to import. */
export const IMPORT_BODY_BYTES = 1024 * 1024;
/** Largest `data` of a custom event, in bytes of JSON. */
export const PRODUCER_EVENT_BYTES = 4 * 1024;
/** Most discounts in one event of the producer. */
export const DISCOUNTS_MAX = 1_000_000;
/** Most products of a stream. */
export const PRODUCTS_MAX = 100;
/** Longest name of a product. */
export const PRODUCT_NAME_CHARS = 80;
/** Highest price in minor units. */
export const PRICE_MAX = 1_000_000_000_000;
/** Largest stock of a product. */
export const STOCK_MAX = 1_000_000_000;
/** Most pieces of a product in one purchase. */
export const QUANTITY_MAX = 10_000;
/** Longest name in a winner's contact details. */
export const CONTACT_NAME_CHARS = 80;
/** Longest address in a winner's contact details. */
export const CONTACT_CHARS = 200;
/** Longest text with which a producer asks for contact details. */
export const CONTACT_NOTE_CHARS = 300;
/** Most contact details in one response, and most that a round counts; the export has all. */
export const CONTACTS_SENT_MAX = 1_000;
/** Most winners rounds of a stream that ask for contact details at the same time. */
export const ROUNDS_ASKING_MAX = 100;
/** Newest winners rounds that a read of a viewer searches for its contact details; an erasure searches all. */
export const CONTACT_ROUNDS_SEARCHED = 100;
/** Deepest nesting of a JSON body. */
export const JSON_DEPTH = 8;
/** Most commas outside strings of a JSON body, which bound its members and elements. */
export const JSON_COMMAS = 4_000;
/** Largest sum, over the objects of a JSON text, of their largest member names that are numbers below 100,000. */
export const JSON_INDEXES = 20_000;

/** Elements of a page of a list, unless the request asks for more. */
export const PAGE_SIZE = 20;
/** Most elements of a page. */
export const PAGE_SIZE_MAX = 100;

/** How long after its end a stream can be reopened, ms. */
export const REOPEN_MS = 600_000;
/** How long after its end a stream counts viewers and takes chat posts; then it is archived. */
export const ARCHIVE_MS = 86_400_000;

/** Longest identifier that a viewer's app gives. */
export const IDENTIFIER_CHARS = 256;
/** Longest question of a quiz. */
export const QUESTION_CHARS = 500;
/** Longest choice of a quiz. */
export const CHOICE_CHARS = 200;
/** Fewest choices of a quiz. */
export const CHOICES_MIN = 2;
/** Most choices of a quiz. */
export const CHOICES_MAX = 10;
/** Shortest time to answer a quiz. */
export const QUIZ_DURATION_MIN_MS = 1_000;
/** Longest time to answer a quiz. */
export const QUIZ_DURATION_MAX_MS = 600_000;
/** Most quizzes of a stream, to bound its storage. */
export const QUIZZES_MAX = 2_000;
/** Most winners rounds of a stream: a game may have no quiz, so that the number of quizzes is no bound. */
export const ROUNDS_MAX = 2_000;
/** Most quizzes in one import. */
export const QUIZZES_PER_IMPORT_MAX = 500;
/** Most commas outside strings of a JSON text to import: 32 for each quiz; one of ours has 14. */
export const IMPORT_JSON_COMMAS = 32 * QUIZZES_PER_IMPORT_MAX;
/** Largest latency allowance of a stream. */
export const LATENCY_ALLOWANCE_MAX_MS = 60_000;
/** Longest chat message. */
export const CHAT_TEXT_CHARS = 280;
/** Longest name in the chat. */
export const CHAT_NAME_CHARS = 40;
/** Most hearts in one post. */
export const HEARTS_MAX = 50;
export const MESSAGE_KINDS = ['message', 'question', 'greeting', 'cheer', 'purchase'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];
/** The format of a chat message id. */
export const MESSAGE_ID = /^[A-Za-z0-9-]{1,64}$/;
/** Longest time between two messages of a viewer in slow mode. */
export const SLOW_MODE_MAX_MS = 300_000;
/** Longest mute that is not for the whole show: a day. */
export const MUTE_MAX_MINUTES = 1_440;
/** Most messages that one call hides. */
export const HIDDEN_PER_CALL_MAX = 100;
/** Number of hidden messages, the newest, that a viewer who joins late receives. */
export const HIDDEN_SENT_MAX = 200;
/** Longest description of a show, code points. */
export const SHOW_DESCRIPTION_CHARS = 500;
/** Number of chat messages, the newest, that a viewer who joins late receives. */
export const CHAT_RECENT = 50;
/** Most hidden messages, restricted viewers and queued questions of a stream, each. */
export const MODERATED_MAX = 10_000;

/** Most intervals in one call: 10 minutes. */
export const HISTORY_INTERVALS = 2_400;
/** Most points of the audience curve in a report. */
export const REPORT_POINTS = 1_000;
/** Most bins in the histogram of a quiz's answer times. */
export const ANSWER_TIME_BINS = 20;
/** An answer within this time before the close counts as last-moment, in ms. */
export const LAST_MOMENT_MS = 500;

/** Most winners of a round that a display or the studio receives with the state of a show. */
export const WINNERS_SENT_MAX = 100;

/** Most synthetic viewers of one rehearsal. */
export const REHEARSAL_VIEWERS_MAX = 500;
/** Most rehearsals whose viewers one node simulates at once. */
export const REHEARSALS_PER_NODE_MAX = 4;
/** Most rehearsals of one account whose viewers one node simulates, so that there is room for others. */
export const REHEARSALS_PER_NODE_AND_ACCOUNT_MAX = 3;
/** Most rehearsals of an account, including those that are being removed. */
export const REHEARSALS_PER_ACCOUNT_MAX = 20;
/** A rehearsal ends automatically after this time: 4 hours. */
export const REHEARSAL_LENGTH_MS = 4 * 3_600_000;
/** The data of a rehearsal is deleted after this time: 24 hours. */
export const REHEARSAL_RETENTION_MS = 24 * 3_600_000;
/** Most quizzes in the measurements of a rehearsal, the newest. */
export const REHEARSED_QUIZZES_MAX = 50;
/** Largest latency of synthetic viewers. */
export const REHEARSAL_LATENCY_MAX_MS = 10_000;
/** Largest share of lost requests; beyond it a network is unusable. */
export const REHEARSAL_LOSS_MAX = 0.5;
