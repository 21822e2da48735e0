import { describe, expect, test } from 'bun:test';
import { decodeJwt } from 'jose';
import type { ChatElement, Chats } from '../../protocol/feed.ts';
import {
  expectMembers,
  expectNoContent,
  expectProblem,
} from '../support/conformance/expectations.ts';
import { eventsFrom, feedSteps, ofType } from '../support/conformance/feed-viewer.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  manualClock,
  START_MS,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';

const harness = await serviceOfFile();
await harness.advance(1);

const ARRAYS = ['messages', 'questions', 'greetings', 'cheers', 'purchases'] as const;
const ARRAY_OF = {
  message: 'messages',
  question: 'questions',
  greeting: 'greetings',
  cheer: 'cheers',
} as const;
const KINDS = Object.keys(ARRAY_OF) as (keyof typeof ARRAY_OF)[];

const { newViewer, send } = feedSteps(harness);
const post = (viewer: TestViewer, body: unknown) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, body);
const postMessage = async (
  viewer: TestViewer,
  text: string,
  fields: Record<string, unknown> = {},
) => expectNoContent(await post(viewer, { kind: 'message', text, ...fields }));
/** The `chats` events of the sealed intervals from one interval on. */
const chatsFrom = async (viewer: TestViewer, from: number) =>
  ofType<Chats>(await eventsFrom(harness, viewer, from), 'chats');
/** Seals the current interval and returns its only `chats` event. */
async function sealedChats(viewer: TestViewer): Promise<Chats> {
  const from = harness.interval();
  await harness.advance(1);
  const [chats, ...more] = await chatsFrom(viewer, from);
  expect(more).toEqual([]);
  if (!chats) throw new Error('there is no chats event');
  return chats.data;
}
const textsOf = (elements: readonly ChatElement[]) => elements.map(({ text }) => text);

describe('posting', () => {
  test.each(KINDS)(
    '[C-1] [C-2] posting a %s returns 204 without a body and adds it to its array',
    async (kind) => {
      const viewer = await newViewer();
      await expectNoContent(await post(viewer, { kind, text: 'Hello!' }));
      const chats = await sealedChats(viewer);
      for (const array of ARRAYS) {
        expect(textsOf(chats[array])).toEqual(array === ARRAY_OF[kind] ? ['Hello!'] : []);
      }
      expect([chats.hearts, chats.discounts]).toEqual([0, 0]);
    },
  );

  test('[C-2] text has 1 to 280 characters and name 1 to 40, published as they were sent', async () => {
    const viewer = await newViewer();
    const good = [
      { text: 'x' },
      { text: 'x'.repeat(280), name: 'n'.repeat(40) },
      { text: '😀'.repeat(280), name: '😀' },
      { text: ' <b>&amp; "quoted" \\n \u2028 ', name: ' Ada ' },
      { text: '__proto__', name: 'constructor' },
    ];
    for (const { text, ...fields } of good) await postMessage(viewer, text, fields);
    const { messages } = await sealedChats(viewer);
    expect(messages.map(({ text, name }) => ({ text, name }))).toEqual(
      good.map(({ text, name = '' }) => ({ text, name })),
    );
  });

  const BAD: [string, Record<string, unknown>][] = [
    ['text', { text: '' }],
    ['text', { text: 'x'.repeat(281) }],
    ['text', { text: '😀'.repeat(281) }],
    ['text', { text: ' \t ' }],
    ['text', { text: '   ' }],
    ['text', { text: 'line\nfeed' }],
    ['text', { text: undefined }],
    ['text', { text: ['x'] }],
    ['name', { name: '' }],
    ['name', { name: 'n'.repeat(41) }],
    ['name', { name: null }],
    ['name', { name: 7 }],
    ['kind', { kind: 'messages' }],
    ['kind', { kind: 'Message' }],
    ['kind', { kind: undefined }],
    ['kind', { kind: null }],
    ['kind', { kind: '__proto__' }],
  ];
  test.each(BAD)('[C-2] a wrong %s returns 400 and posts nothing: %j', async (field, fields) => {
    const viewer = await newViewer();
    const from = harness.interval();
    const refused = await post(viewer, { kind: 'message', text: 'x', ...fields });
    expect((await expectProblem(refused, 400)).detail).toContain(field);
    await harness.advance(1);
    expect(await chatsFrom(viewer, from)).toEqual([]);
  });

  test('[C-3] a heart has a count of 1 to 50, by default 1', async () => {
    const viewer = await newViewer();
    await expectNoContent(await post(viewer, { kind: 'heart' }));
    for (const count of [1, 50])
      await expectNoContent(await post(viewer, { kind: 'heart', count }));
    for (const count of [0, 51, -1, 1.5, '2', null, 2 ** 53]) {
      const refused = await post(viewer, { kind: 'heart', count });
      expect((await expectProblem(refused, 400)).detail).toContain('count');
    }
    expect((await sealedChats(viewer)).hearts).toBe(52);
  });

  test('[C-4] a purchase or discount posted by a viewer returns 400', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    for (const body of [
      { kind: 'purchase', text: 'x' },
      { kind: 'purchases', text: 'x' },
      { kind: 'discount' },
      { kind: 'discount', count: 5 },
    ]) {
      expect((await expectProblem(await post(viewer, body), 400)).detail).toContain('kind');
    }
    await expectNoContent(await post(viewer, { kind: 'heart', discounts: 5, purchases: [{}] }));
    await harness.advance(1);
    const [chats] = await chatsFrom(viewer, from);
    expect(chats?.data).toMatchObject({ hearts: 1, discounts: 0, purchases: [] });
  });
});

describe('the chats event', () => {
  test('[F-28] the chats event has exactly five arrays and two integers', async () => {
    const viewer = await newViewer();
    await expectNoContent(await post(viewer, { kind: 'heart' }));
    const chats = await sealedChats(viewer);
    expectMembers(chats, [...ARRAYS, 'hearts', 'discounts']);
    for (const array of ARRAYS) expect(chats[array]).toEqual([]);
    expect(chats.hearts).toBeInteger();
    expect(chats.discounts).toBeInteger();
  });

  test('[C-5] a chats element has exactly id, viewer, name, text and at', async () => {
    const viewer = await newViewer();
    const named = await harness.viewer(viewer.streamId);
    for (let i = 0; i < 2; i++) await postMessage(viewer, 'same');
    await postMessage(named, 'other', { name: 'Ada' });
    const { messages } = await sealedChats(viewer);
    const at = harness.clock.nowMs() - 250;
    for (const message of messages) expectMembers(message, ['id', 'viewer', 'name', 'text', 'at']);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(3);
    const { sub } = decodeJwt(viewer.token);
    expect(messages[0]).toMatchObject({ viewer: sub as string, name: '', text: 'same', at });
    expect(messages[2]).toMatchObject({
      viewer: decodeJwt(named.token).sub as string,
      name: 'Ada',
    });
  });

  test('[C-6] [C-7] an interval has at most one chats event with the posts that arrived in it, and none without posts', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    await postMessage(viewer, 'one');
    await postMessage(viewer, 'two', { kind: 'question' });
    await expectNoContent(await post(viewer, { kind: 'heart', count: 2 }));
    await harness.advance(2);
    await postMessage(viewer, 'three');
    await harness.advance(2);
    const chatsEvents = await chatsFrom(viewer, from);
    expect(chatsEvents.map(({ interval }) => interval)).toEqual([from, from + 2]);
    expect(chatsEvents.map(({ data }) => textsOf(data.messages))).toEqual([['one'], ['three']]);
    expect(textsOf(chatsEvents[0]?.data.questions ?? [])).toEqual(['two']);
    expect(chatsEvents.map(({ data }) => data.hearts)).toEqual([2, 0]);
  });

  test('[C-7] a chats event has only posts of its own stream', async () => {
    const one = await newViewer();
    const two = await newViewer();
    await postMessage(one, 'of one');
    const from = harness.interval();
    await harness.advance(1);
    expect(await chatsFrom(two, from)).toEqual([]);
    expect(await chatsFrom(one, from)).toHaveLength(1);
  });

  test('[C-8] a chats event has at most 50 posts of a kind, in the order of arrival', async () => {
    const viewer = await newViewer();
    for (let n = 0; n < 50; n++) await postMessage(viewer, `${n}`);
    const all = await sealedChats(viewer);
    expect(textsOf(all.messages)).toEqual(Array.from({ length: 50 }, (_, n) => `${n}`));
    for (let n = 0; n < 120; n++) await postMessage(viewer, `${n}`);
    for (let n = 0; n < 3; n++) await postMessage(viewer, `${n}`, { kind: 'cheer' });
    const sampled = await sealedChats(viewer);
    const order = textsOf(sampled.messages).map(Number);
    expect(order).toHaveLength(50);
    expect(new Set(order).size).toBe(50);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    // The flood of one kind does not displace the other kinds.
    expect(textsOf(sampled.cheers)).toEqual(['0', '1', '2']);
  });

  test('[C-8] beyond 50 posts of a kind, each post has the same chance to be sampled', async () => {
    const viewer = await newViewer();
    const posts = 100;
    const rounds = 20;
    const inQuarters = [0, 0, 0, 0];
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < posts; n++) await postMessage(viewer, `${n}`);
      for (const text of textsOf((await sealedChats(viewer)).messages)) {
        const quarter = Math.floor((Number(text) / posts) * 4);
        inQuarters[quarter] = (inQuarters[quarter] ?? 0) + 1;
      }
    }
    // The mean is 250 in each quarter; the standard deviation is below 10, so 60 is six of them.
    for (const count of inQuarters) expect(count).toBeWithin(190, 311);
  }, 20_000);

  test('[C-8] an interval has at most 32 KB of messages and 8 KB of one address, with ten of each address before more of any', async () => {
    await using behindProxy = await startService({
      config: { trustProxy: true, rates: HIGH_RATES },
    });
    const viewer = await behindProxy.viewer(await behindProxy.createStream());
    const postFrom = (address: string, body: object) =>
      viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, body, {
        'X-Forwarded-For': address,
      });
    const from = behindProxy.interval();
    const longest = { text: '😀'.repeat(280), name: '😀'.repeat(40) };
    for (let n = 0; n < 400; n++) {
      const kind = KINDS[n % KINDS.length];
      const address = `203.0.113.${Math.floor(n / 100)}`;
      await expectNoContent(await postFrom(address, { kind, ...longest }));
    }
    const others = Array.from({ length: 15 }, (_, n) => `other ${n}`);
    for (const [n, text] of others.entries()) {
      await expectNoContent(await postFrom(`192.0.2.${n}`, { kind: 'message', text }));
    }
    await behindProxy.advance(1);
    const [chats] = ofType<Chats>(await eventsFrom(behindProxy, viewer, from), 'chats');
    if (!chats) throw new Error('there is no chats event');
    expect(Buffer.byteLength(JSON.stringify(chats.data))).toBeWithin(28 * 1024, 33 * 1024);
    expect(textsOf(chats.data.messages)).toEqual(expect.arrayContaining(others));

    const alone = behindProxy.interval();
    for (let n = 0; n < 40; n++) {
      await expectNoContent(await postFrom('203.0.113.1', { kind: 'message', ...longest }));
    }
    await behindProxy.advance(1);
    const [ofOne] = ofType<Chats>(await eventsFrom(behindProxy, viewer, alone), 'chats');
    expect(Buffer.byteLength(JSON.stringify(ofOne?.data))).toBeWithin(5 * 1024, 9 * 1024);
  });

  test('[C-8] the /64 networks of one IPv6 /48 count as one address', async () => {
    await using behindProxy = await startService({
      config: { trustProxy: true, rates: HIGH_RATES },
    });
    const viewer = await behindProxy.viewer(await behindProxy.createStream());
    const postFrom = (address: string, text: string) =>
      viewer.post(
        `/api/v1/events-streams/${viewer.streamId}/chats`,
        { kind: 'message', text },
        { 'X-Forwarded-For': address },
      );
    const from = behindProxy.interval();
    for (let n = 0; n < 200; n++) {
      await expectNoContent(await postFrom(`2001:db8:0:${(n % 20).toString(16)}::1`, 'flood'));
    }
    const others = Array.from({ length: 30 }, (_, n) => `other ${n}`);
    for (const [n, text] of others.entries()) {
      await expectNoContent(await postFrom(`192.0.2.${n}`, text));
    }
    await behindProxy.advance(1);
    const [chats] = ofType<Chats>(await eventsFrom(behindProxy, viewer, from), 'chats');
    expect(textsOf(chats?.data.messages ?? [])).toEqual(expect.arrayContaining(others));
  });

  test('[C-9] hearts and discounts are exact sums, independent of sampling', async () => {
    const viewer = await newViewer();
    for (let n = 0; n < 80; n++) {
      await expectNoContent(await post(viewer, { kind: 'heart', count: 50 }));
    }
    for (const count of [1, 1_000_000]) await send(viewer, 'discount', { count });
    await send(viewer, 'discount', {});
    for (let n = 0; n < 60; n++) await postMessage(viewer, `${n}`);
    const chats = await sealedChats(viewer);
    expect([chats.hearts, chats.discounts]).toEqual([4_000, 1_000_002]);
  });

  test('[C-10] no purchase is dropped: those beyond 50 wait for later intervals, and viewer is empty', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    for (let n = 0; n < 120; n++) {
      await send(viewer, 'purchase', { name: 'Ada', text: `${n}` });
    }
    await harness.advance(4);
    const chatsEvents = await chatsFrom(viewer, from);
    expect(chatsEvents.map(({ data }) => data.purchases.length)).toEqual([50, 50, 20]);
    const purchases = chatsEvents.flatMap(({ data }) => data.purchases);
    expect(textsOf(purchases)).toEqual(Array.from({ length: 120 }, (_, n) => `${n}`));
    expect(new Set(purchases.map(({ id }) => id)).size).toBe(120);
    for (const { viewer, name } of purchases) expect([viewer, name]).toEqual(['', 'Ada']);
  });

  test('[C-10] waiting purchases delay no other event', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    for (let n = 0; n < 51; n++) await send(viewer, 'purchase', { text: `${n}` });
    await send(viewer, 'lights', { on: true });
    await harness.advance(1);
    const types = (await harness.events(viewer, from)).map(({ type }) => type);
    expect(types.filter((type) => type !== 'view-count')).toEqual(['chats', 'lights']);
  });
});

test('[C-11] a restart loses at most unsealed posts', async () => {
  using folder = temporaryFolder();
  const directory = folder.path('data');
  const clock = manualClock(START_MS);
  const before = await startService({ clock, directory });
  const stream = await before.createStream();
  const viewer = await before.viewer(stream);
  const path = `/api/v1/events-streams/${stream}/chats`;
  await expectNoContent(await viewer.post(path, { kind: 'message', text: 'sealed' }));
  const sealed = before.interval();
  await before.advance(1);
  await expectNoContent(await viewer.post(path, { kind: 'message', text: 'unsealed' }));
  await before.studio('POST', `/streams/${stream}/events`, {
    type: 'purchase',
    data: { text: 'bought' },
  });
  await before.close();
  await using after = await startService({ clock, directory });
  await after.advance(2);
  const events = await eventsFrom(after, await after.viewer(stream), sealed);
  const chats = ofType<Chats>(events, 'chats').map(({ data }) => data);
  const seen = chats.flatMap(({ messages, purchases }) => textsOf([...messages, ...purchases]));
  expect(seen).toContain('sealed');
  expect(seen).toContain('bought');
  expect(new Set(seen).size).toBe(seen.length);
});
