import { expect, test } from 'bun:test';
import { NO_SHOW_PAGE } from '../../../protocol/show-page-values.ts';
import { Unavailable } from '../../platform/errors.ts';
import { ShownShows } from './shown-shows.ts';
import type { StreamRow } from './streams-sql.ts';

test('[S-18] ShownShows reads a show once in 2 s, and again afterwards', async () => {
  let nowMs = 0;
  let reads = 0;
  const shows = new ShownShows({
    nowMs: () => nowMs,
    store: {
      findStream: async () => {
        reads++;
        return { title: `Title ${reads}`, unlisted: false, showPage: NO_SHOW_PAGE } as StreamRow;
      },
    },
  });
  const together = await Promise.all(Array.from({ length: 100 }, () => shows.read('a')));
  expect(new Set(together).size).toBe(1);
  nowMs = 1_999;
  expect(await shows.read('a')).toEqual({ title: 'Title 1', unlisted: false, ...NO_SHOW_PAGE });
  expect(reads).toBe(1);
  nowMs = 2_000;
  expect((await shows.read('a'))?.title).toBe('Title 2');
  await shows.read('b');
  expect(reads).toBe(3);
});

test('[S-18] ShownShows has no show while the database is unavailable', async () => {
  const shows = new ShownShows({
    nowMs: () => 0,
    store: { findStream: () => Promise.reject(new Unavailable('The database is unavailable.')) },
  });
  expect(await shows.read('a')).toBeNull();
});
