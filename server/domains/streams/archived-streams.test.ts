import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { ArchivedStreams } from './archived-streams.ts';

function setUp() {
  const stored = new Set(['old']);
  const reads: (readonly string[])[] = [];
  const state = { unavailable: false };
  const archived = new ArchivedStreams({
    store: {
      archivedAmong: async ({ ids }) => {
        reads.push(ids);
        if (state.unavailable) throw new Unavailable('The database is unavailable.');
        return ids.filter((id) => stored.has(id));
      },
    },
    nowMs: () => 0,
  });
  return { archived, stored, reads, state };
}

describe('ArchivedStreams', () => {
  test('[S-21] finds an archived stream with the refresh after its first use, and reads it once', async () => {
    const { archived, reads } = setUp();
    expect(archived.has('old')).toBe(false);
    await archived.refresh();
    expect(archived.has('old')).toBe(true);
    await archived.refresh();
    expect([archived.has('old'), reads]).toEqual([true, [['old']]]);
  });

  test('[S-21] reads a stream that is not archived again while viewers use it', async () => {
    const { archived, stored, reads } = setUp();
    archived.has('new');
    archived.has('new');
    await archived.refresh();
    stored.add('new');
    expect(archived.has('new')).toBe(false);
    await archived.refresh();
    expect([archived.has('new'), reads]).toEqual([true, [['new'], ['new']]]);
  });

  test('[S-21] [N-10] keeps what it knows while the database is unavailable', async () => {
    const { archived, state } = setUp();
    archived.has('old');
    await archived.refresh();
    state.unavailable = true;
    archived.has('other');
    expect(archived.refresh()).rejects.toThrow(Unavailable);
    expect([archived.has('old'), archived.has('other')]).toEqual([true, false]);
  });

  test('[S-21] reads at most 1,000 streams at once', async () => {
    const { archived, reads } = setUp();
    for (let n = 0; n < 2_500; n += 1) archived.has(`stream ${n}`);
    await archived.refresh();
    expect(reads.map((ids) => ids.length)).toEqual([1_000, 1_000, 500]);
  });
});
