import { expect, test } from 'bun:test';
import { NO_SHOW_PAGE } from '../../../protocol/show-page-values.ts';
import { Unavailable } from '../../platform/errors.ts';
import { ShownShows } from './shown-shows.ts';
import type { StreamRow } from './streams-sql.ts';

const NO_LIVE_SHOWS = { listLiveShows: async () => [] };
const rejects = () => Promise.reject(new Unavailable('The database is unavailable.'));

test('[S-18] ShownShows reads a show once in 2 s, and again afterwards', async () => {
  let nowMs = 0;
  let reads = 0;
  const shows = new ShownShows({
    nowMs: () => nowMs,
    store: {
      ...NO_LIVE_SHOWS,
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
    store: { findStream: rejects, listLiveShows: rejects },
  });
  expect(await shows.read('a')).toBeNull();
  expect(await shows.live()).toEqual([]);
});

test('[O-23] ShownShows reads the live shows once in 2 s', async () => {
  let nowMs = 0;
  let reads = 0;
  const listLiveShows = async () => [{ id: 'a', title: `Read ${++reads}` }];
  const shows = new ShownShows({
    nowMs: () => nowMs,
    store: { findStream: async () => null, listLiveShows },
  });
  await Promise.all(Array.from({ length: 100 }, () => shows.live()));
  nowMs = 1_999;
  expect(await shows.live()).toEqual([{ id: 'a', title: 'Read 1' }]);
  nowMs = 2_000;
  expect(await shows.live()).toEqual([{ id: 'a', title: 'Read 2' }]);
});
