// What one sealing takes. What is beyond waits for the next one, so that neither a backlog after an outage nor
// one account can make a sealing, or the interval of a stream, arbitrarily large.

/** Most bytes of waiting events of a stream in one interval; the event that reaches them is the last. */
export const STREAM_EVENT_BYTES = 256 * 1024;
/** Most bytes of waiting events of all streams in one interval; streams take turns. */
export const ALL_EVENT_BYTES = 4 * 1024 * 1024;
/** What an event counts in addition to its data, so that the number of small ones is bounded too: 524 a stream. */
export const EVENT_OVERHEAD_BYTES = 500;
/** Most quizzes of a stream that close in one interval; the results of one have up to 20 KB. */
export const STREAM_CLOSES_MAX = 16;
/** Most quizzes that close in one interval; accounts take turns. */
export const ALL_CLOSES_MAX = 500;
/**
 * Most bytes of the results of quizzes that close in one interval; the quiz that reaches them is the last. The
 * results of 500 long quizzes have 9.7 MB: PostgreSQL sealed them in 1.0 s.
 */
export const ALL_RESULT_BYTES = 2 * 1024 * 1024;
/** The most that the results of a quiz have in addition to its question and twice its choices. */
export const RESULT_OVERHEAD_BYTES = 1_500;
/** Most winners rounds that are counted in one interval. */
export const ROUND_COUNTS_MAX = 1_000;
/** Most streams that end at their time, and that end because their source left, in one interval each. */
export const STREAM_ENDS_MAX = 1_000;
