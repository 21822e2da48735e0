import { expect, test } from 'bun:test';
import { expectProblem } from '../support/conformance/expectations.ts';
import { eventsFrom, feedSteps } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { manualClock, START_MS, startService } from '../support/harness/harness.ts';

const clock = manualClock(START_MS);
const harness = await serviceOfFile({ clock });
await harness.advance(1);

const { newViewer, read, sealNext, send, readText } = feedSteps(harness);

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
  await using shaky = await startService({
    store: (store) => ({
      ...store,
      sealInterval: (input) =>
        failing ? Promise.reject(new Error('disk full')) : store.sealInterval(input),
    }),
  });
  await shaky.advance(1);
  const viewer = await shaky.viewer(await shaky.createStream());
  const path = `/api/v1/events-streams/${viewer.streamId}`;
  await viewer.post(`${path}/chats`, { kind: 'heart', count: 7 });
  await shaky.studio('POST', `/streams/${viewer.streamId}/events`, { type: 'x', data: null });
  const interval = shaky.interval();
  let isServed = false;
  const longPoll = viewer.get(`${path}?interval=${interval}`).then(async (response) => {
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
    ...((await longPoll) as { events: { type: string }[] }).events,
    ...(await shaky.events(viewer, interval + 1)),
  ];
  expect(events.map(({ type }) => type)).toEqual(['chats', 'x']);
});

test('[F-14] a durable event is only in the first interval sealed after its commit', async () => {
  const viewer = await newViewer();
  const from = harness.interval();
  await send(viewer, 'one', { n: 1 });
  await harness.advance(3);
  await send(viewer, 'two', { n: 2 });
  await harness.advance(3);
  const events = await eventsFrom(harness, viewer, from);
  const sent = events.filter(({ type }) => type === 'one' || type === 'two');
  expect(sent.map(({ type, interval }) => [type, interval])).toEqual([
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
  const never = Promise.withResolvers<never>();
  const stuck = await startService({
    clock: 'real',
    store: (store) => ({ ...store, sealInterval: () => never.promise }),
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
    never.reject(new Error('the test is over'));
    await stuck.close();
  }
}, 10_000);
