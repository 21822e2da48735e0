import { afterAll, beforeAll, expect, test } from 'bun:test';
import { expectProblem } from '../support/conformance/expectations.ts';
import { feedSteps } from '../support/conformance/feed-viewer.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import {
  type Harness,
  type ManualClock,
  manualClock,
  START_MS,
  startService,
} from '../support/harness/harness.ts';

let harness: Harness;
let clock: ManualClock;
beforeAll(async () => {
  clock = manualClock(START_MS);
  harness = await startService({ clock, config: { rates: HIGH_RATES } });
  await harness.advance(1);
});
afterAll(() => harness.close());

const { newViewer, read, sealNext, send, readText } = feedSteps(() => harness);

test('[F-11] [F-12] a served interval never changes, whatever is sent afterwards', async () => {
  const viewer = await newViewer();
  await send(viewer, 'first', null);
  const interval = await sealNext();
  const before = await readText(viewer, interval);
  await send(viewer, 'second', null);
  await viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });
  await harness.service.seal();
  expect(await readText(viewer, interval)).toBe(before);
  await harness.advance(4);
  expect(await readText(viewer, interval)).toBe(before);
  const watermark = await harness.store.readWatermark({});
  expect(watermark).toBe(harness.interval() - 1);
  await send(viewer, 'third', null);
  for (let i = 0; i < 3; i++) await harness.service.seal();
  expect(await harness.store.readWatermark({})).toBe(watermark);
  expect((await harness.events(viewer, watermark)).map(({ type }) => type)).not.toContain('third');
});

test('[F-13] an interval whose sealing failed is not served, and none of its events is lost', async () => {
  let failing = false;
  const shaky = await startService({
    store: (store) => ({
      ...store,
      sealInterval: (input) =>
        failing ? Promise.reject(new Error('disk full')) : store.sealInterval(input),
    }),
  });
  try {
    await shaky.advance(1);
    const viewer = await shaky.viewer(await shaky.createStream());
    const path = `/api/v1/events-streams/${viewer.streamId}`;
    await viewer.post(`${path}/chats`, { kind: 'heart', count: 7 });
    await shaky.studio('POST', `/streams/${viewer.streamId}/events`, { type: 'x', data: null });
    const interval = shaky.interval();
    let isServed = false;
    const held = viewer.get(`${path}?interval=${interval}`).then(async (response) => {
      isServed = true;
      return response.json();
    });
    failing = true;
    await shaky.advance(1);
    await Bun.sleep(30);
    expect(isServed).toBe(false);
    failing = false;
    await shaky.advance(1);
    const events = [
      ...((await held) as { events: { type: string }[] }).events,
      ...(await shaky.events(viewer, interval + 1)),
    ];
    expect(events.map(({ type }) => type)).toEqual(['chats', 'x']);
  } finally {
    await shaky.close();
  }
});

test('[F-14] a durable event is only in the first interval sealed after its commit', async () => {
  const viewer = await newViewer();
  const from = harness.interval();
  await send(viewer, 'one', { n: 1 });
  await harness.advance(3);
  await send(viewer, 'two', { n: 2 });
  await harness.advance(3);
  const found: [string, number][] = [];
  for (let interval = from; interval < harness.interval(); interval++) {
    for (const { type } of await harness.events(viewer, interval)) {
      if (type === 'one' || type === 'two') found.push([type, interval]);
    }
  }
  expect(found).toEqual([
    ['one', from],
    ['two', from + 3],
  ]);
});

test('[F-15] an interval lists view-count first, then chats, then events in the order of commit', async () => {
  const viewer = await newViewer();
  await harness.advance((7 - (harness.interval() % 4)) % 4);
  expect(harness.interval() % 4).toBe(3);
  await send(viewer, 'b', { n: 1 });
  await harness.publishQuiz(viewer.streamId);
  await send(viewer, 'a', { n: 2 });
  await viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });
  await viewer.post(`/api/v1/view-counts/${viewer.streamId}`);
  await send(viewer, 'purchase', { text: 'late' });
  await send(viewer, 'c', { n: 3 });
  const events = await harness.events(viewer, await sealNext());
  expect(events.map(({ type }) => type)).toEqual(['view-count', 'chats', 'b', 'quiz', 'a', 'c']);
});

test('[F-16] after a delay pending events go into the newest ended interval, and earlier ones are empty', async () => {
  const viewer = await newViewer();
  const from = harness.interval();
  await send(viewer, 'waiting', null);
  clock.set((from + 6) * 250);
  await harness.service.seal();
  const types: string[][] = [];
  for (let interval = from; interval < from + 6; interval++) {
    const events = await harness.events(viewer, interval);
    types.push(events.map(({ type }) => type).filter((type) => type === 'waiting'));
  }
  expect(types).toEqual([[], [], [], [], [], ['waiting']]);
});

test('[F-9] a long poll for an interval that is not sealed in time returns 503 with Retry-After', async () => {
  let giveUp: (error: Error) => void = () => {};
  const never = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const stuck = await startService({
    clock: 'real',
    store: (store) => ({ ...store, sealInterval: () => never }),
  });
  try {
    const viewer = await stuck.viewer(await stuck.createStream());
    const interval = stuck.interval();
    const response = await read(viewer, interval);
    const lateMs = stuck.clock.nowMs() - (interval + 1) * 250;
    await expectProblem(response, 503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(lateMs).toBeWithin(750, 2_000);
  } finally {
    giveUp(new Error('the test is over'));
    await stuck.close();
  }
}, 10_000);
