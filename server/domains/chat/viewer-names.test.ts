import { beforeEach, describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { ViewerNames } from './viewer-names.ts';
import type { ViewerName } from './viewer-names-sql.ts';

const named = (seat: number, name: string): ViewerName => {
  return { streamId: 'a', seat, name, messageId: `${seat} ${name}` };
};

describe('ViewerNames', () => {
  let stored: ViewerName[][];
  let error: Error | null;
  let errors: unknown[];
  let names: ViewerNames;
  beforeEach(() => {
    stored = [];
    error = null;
    errors = [];
    names = new ViewerNames({
      store: {
        nameViewers: async (batch) => {
          if (error) throw error;
          stored.push([...batch]);
        },
      },
      onError: (thrown) => errors.push(thrown),
    });
  });
  const written = () => Bun.sleep(120);

  test('[W-13] ViewerNames stores the last name of each viewer once', async () => {
    for (const one of [named(1, 'Ada'), named(2, 'Bob'), named(1, 'Grace'), named(3, '')]) {
      names.note(one);
    }
    await written();
    expect(stored).toEqual([[named(1, 'Grace'), named(2, 'Bob')]]);
    names.note(named(1, 'Grace'));
    await written();
    expect(stored).toHaveLength(1);
    names.note(named(1, 'Ada'));
    names.note(named(1, ''));
    await written();
    expect(stored[1]).toEqual([named(1, 'Ada')]);
  });

  test('[W-13] ViewerNames stores a name with the next message, when it could not be stored', async () => {
    error = new Unavailable('down');
    names.note(named(1, 'Ada'));
    await written();
    error = null;
    names.note(named(1, 'Ada'));
    await written();
    expect([stored, errors]).toEqual([[[named(1, 'Ada')]], []]);
  });

  test('[W-13] ViewerNames ignores a name in the form of a code, with which a viewer could pose as a winner', async () => {
    for (const name of ['KOTA-4729', 'kota 4729', 'KOTA4729', 'KOTA–4729', ' KOTA-4729!']) {
      names.note(named(1, name));
    }
    for (const name of ['Anna1984', 'Kota', '47299']) names.note(named(10 + name.length, name));
    await written();
    expect(stored.flat().map(({ name }) => name)).toEqual(['Anna1984', 'Kota', '47299']);
  });

  test.each(['\u2800', '\u3164', '\u200b', '\u202e\u202c', ' \ufe0f\u2060\u{e0041}'])(
    '[W-13] ViewerNames ignores a name without a visible character: %j',
    async (name) => {
      names.note(named(1, name));
      await written();
      expect(stored).toEqual([]);
    },
  );

  test('[W-13] ViewerNames stores a name in the order in which it is compared with codes', async () => {
    names.note(named(1, '\u202e9274-ATOK'));
    names.note(named(2, '\u202eKOTA-4729'));
    names.note(named(3, '\u2067Ada\u2069'));
    await written();
    expect(stored.flat().map(({ seat, name }) => [seat, name])).toEqual([
      [1, '9274-ATOK'],
      [3, 'Ada'],
    ]);
  });

  test('[W-13] ViewerNames keeps joiners, which emoji and scripts need', async () => {
    const joined = ['👩\u200d🚀', 'می\u200cخواهم'];
    for (const [seat, name] of joined.entries()) names.note(named(seat, name));
    await written();
    expect(stored.flat().map(({ name }) => name)).toEqual(joined);
  });

  test('ViewerNames reports an error of its own', async () => {
    error = new Error('a defect');
    names.note(named(1, 'Ada'));
    await written();
    expect(errors).toEqual([error]);
  });
});
