import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { REOPEN_MS } from '../../../protocol/limits.ts';
import { endStream, reopenStream, type StreamState, startStream } from './stream-rules.ts';

const created: StreamState = {
  status: 'CREATED',
  started: null,
  ended: null,
  endsAt: null,
  reopened: null,
  sealedUntil: null,
};

describe('the states of a stream', () => {
  test('[S-4] the states of a stream change to STREAMING on start and to ENDED on end', () => {
    const live = startStream(created, 1_000);
    expect(live).toEqual({ ...created, status: 'STREAMING', started: 1_000 });
    expect(endStream(live, null, 2_000)).toEqual({ ...live, status: 'ENDED', ended: 2_000 });
  });

  test('[P-12] the states of a stream do not change on a second start, and a stream that has ended cannot start', () => {
    const live = startStream(created, 1_000);
    expect(startStream(live, 5_000)).toEqual(live);
    expect(() => startStream(endStream(live, null, 2_000), 3_000)).toThrow('has ended');
  });

  test('[P-13] the states of a stream do not change on a second end', () => {
    const over = endStream(created, null, 2_000);
    expect(endStream(over, null, 3_000)).toEqual(over);
  });

  test('[P-14] the states of a stream keep a future end time and change to ENDED for a past one', () => {
    const live = startStream(created, 1_000);
    expect(endStream(live, 9_000, 2_000)).toEqual({ ...live, endsAt: 9_000 });
    expect(endStream({ ...live, endsAt: 9_000 }, 2_000, 2_000).status).toBe('ENDED');
    expect(endStream({ ...live, endsAt: 9_000 }, null, 2_000).endsAt).toBeNull();
  });

  test('[S-19] a stream that ended is what it was before for 10 minutes, without its end time', () => {
    const live = startStream(created, 1_000);
    const ended = endStream<StreamState>({ ...live, endsAt: 2_000 }, 2_000, 2_000);
    const reopened = 2_000 + REOPEN_MS - 1;
    expect(reopenStream(ended, reopened)).toEqual({ ...live, reopened });
    expect(reopenStream(endStream(created, null, 2_000), 3_000)).toEqual({
      ...created,
      reopened: 3_000,
    });
    expect(() => reopenStream(ended, 2_000 + REOPEN_MS)).toThrow('more than 10 minutes ago');
    expect(reopenStream(live, 9_000)).toBe(live);
  });

  test('[K-7] a stream whose feed was sealed beyond now, before service time was set back, stays ended', () => {
    const live = startStream(created, 1_000);
    const ended = { ...endStream(live, null, 2_000), sealedUntil: intervalAt(3_000) };
    expect(() => reopenStream(ended, 3_249)).toThrow('wrong clock');
    expect(reopenStream(ended, 3_250).status).toBe('STREAMING');
  });
});
