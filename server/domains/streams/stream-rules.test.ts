import { describe, expect, test } from 'bun:test';
import { ended, type StreamState, started } from './stream-rules.ts';

const created: StreamState = { status: 'CREATED', started: null, ended: null, endsAt: null };

describe('the states of a stream', () => {
  test('[S-4] start makes it STREAMING, end makes it ENDED', () => {
    const live = started(created, 1_000);
    expect(live).toEqual({ ...created, status: 'STREAMING', started: 1_000 });
    expect(ended(live, null, 2_000)).toEqual({ ...live, status: 'ENDED', ended: 2_000 });
  });

  test('[P-12] starting twice changes nothing, and a stream that has ended stays ended', () => {
    const live = started(created, 1_000);
    expect(started(live, 5_000)).toEqual(live);
    expect(() => started(ended(live, null, 2_000), 3_000)).toThrow('has ended');
  });

  test('[P-13] ending twice changes nothing', () => {
    const over = ended(created, null, 2_000);
    expect(ended(over, null, 3_000)).toEqual(over);
  });

  test('[P-14] an end to come is kept; one that has passed ends the stream now', () => {
    const live = started(created, 1_000);
    expect(ended(live, 9_000, 2_000)).toEqual({ ...live, endsAt: 9_000 });
    expect(ended({ ...live, endsAt: 9_000 }, 2_000, 2_000).status).toBe('ENDED');
    expect(ended({ ...live, endsAt: 9_000 }, null, 2_000).endsAt).toBeNull();
  });
});
