import { afterEach, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  sealShow,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';

const STREAM = uuidOf(1);

let show: Show;
afterEach(() => show.close());

test('[W-4] [W-9] a winner report is in time until the interval of the count ends, however late sealing is', async () => {
  show = await openShow([STREAM]);
  const own = { id: uuidOf(2), streamId: STREAM, producer: PRODUCER };
  const interval = intervalAt(SHOW_START_MS);
  await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
  await sealShow(show, { after: -1, interval, nowMs: SHOW_START_MS + 250, transients: [] });
  const endMs = intervalStartMs(interval + 5);
  const inTime = { streamId: STREAM, seat: 1, receivedMs: endMs - 1 };
  const late = { streamId: STREAM, seat: 2, receivedMs: endMs };
  expect(await show.store.recordWinners([late, inTime])).toEqual(['no-round', 'won']);
  expect(await show.store.recordWinners([late])).toEqual(['no-round']);
  const sealing = { after: interval, interval: interval + 9, nowMs: endMs + 1_250, transients: [] };
  const [sealed] = await sealShow(show, sealing);
  expect(JSON.parse(sealed?.body ?? '').events).toEqual([
    { type: 'quiz-winners', data: { count: 1 } },
  ]);
});
