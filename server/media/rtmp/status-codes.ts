import type { Refused } from '../source.ts';

/** The source is not taken, or not any more, for no fault of its key. */
export const FAILED = 'NetStream.Failed';

/** What an encoder is told for each reason: most show its key as the one to look at. */
export const REFUSAL_CODES: Readonly<Record<Refused, string>> = {
  'unknown-key': 'NetStream.Publish.BadName',
  busy: 'NetStream.Publish.BadName',
  ended: 'NetStream.Publish.BadName',
  unavailable: FAILED,
};
