import type { RefusalReason } from '../source.ts';

/** A failure that is not the stream key's fault. */
export const FAILED = 'NetStream.Failed';

/** Status code by refusal reason. For BadName, most encoders tell the user to check the key. */
export const REFUSAL_CODES: Readonly<Record<RefusalReason, string>> = {
  'unknown-key': 'NetStream.Publish.BadName',
  busy: 'NetStream.Publish.BadName',
  ended: 'NetStream.Publish.BadName',
  unavailable: FAILED,
};
