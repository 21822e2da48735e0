import { expect, test } from 'bun:test';
import { admissionOf } from './admission.ts';

const viewer = { streamId: 'stream', seat: 7, expiresMs: 1_000 };
const noBans = { isBanned: () => false };
const bansViewer = { isBanned: ({ seat }: { seat: number }) => seat === viewer.seat };

test.each([
  ['[T-13] admits a viewer to the stream of the token', 'stream', 999, noBans, 'admitted'],
  ['admits a viewer when the request names no stream', null, 999, noBans, 'admitted'],
  ['[T-13] refuses a viewer of another stream', 'other', 999, noBans, 'wrong-stream'],
  ['[T-6] refuses an expired token', 'stream', 1_000, noBans, 'expired'],
  ['[C-19] refuses a banned viewer', 'stream', 999, bansViewer, 'banned'],
  ['reports expiry before all else', 'other', 1_000, bansViewer, 'expired'],
  ['reports the wrong stream before a ban', 'other', 999, bansViewer, 'wrong-stream'],
] as const)('%s', (_, streamId, nowMs, bans, admission) => {
  expect(admissionOf(viewer, streamId, nowMs, bans)).toBe(admission);
});
