import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectJson, type Harness, startService, type TestViewer } from '../harness.ts';
import { expectBaseHeaders, expectMembers, expectProblem } from './expectations.ts';
import { PLENTY_OF_ALL } from './operations.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startService({ config: { rates: PLENTY_OF_ALL } });
  await harness.advance(1);
});
afterAll(() => harness.close());

const PRIVATE = 'private, max-age=31536000, immutable';

const read = (viewer: TestViewer, interval: number | string, headers = {}) =>
  viewer.get(`/api/v1/events-streams/${viewer.streamId}?interval=${interval}`, headers);
const textOf = async (viewer: TestViewer, interval: number) => {
  const response = await read(viewer, interval);
  expect(response.status).toBe(200);
  return response.text();
};
const newViewer = async () => harness.viewer(await harness.createStream());
const send = async (viewer: TestViewer, type: string, data: object | null) =>
  expectJson(
    await harness.studio('POST', `/streams/${viewer.streamId}/events`, { type, data }),
    201,
  );
/** The interval that is sealed by moving on by one. */
const sealed = async () => {
  await harness.advance(1);
  return harness.interval() - 1;
};

describe('addressing', () => {
  test('[F-1] [F-2] is 200 with exactly interval and events, of exactly type and data', async () => {
    const viewer = await newViewer();
    await send(viewer, 'lights', { colour: 'red' });
    await send(viewer, 'curtain', null);
    const interval = await sealed();
    const response = await read(viewer, interval);
    expectBaseHeaders(response);
    expect(response.headers.get('content-type')).toBe('application/json');
    const body = await expectJson<{ interval: number; events: object[] }>(response, 200);
    expectMembers(body, ['interval', 'events']);
    expect(body.interval).toBe(interval);
    expect(body.events).toHaveLength(2);
    for (const event of body.events) expectMembers(event, ['type', 'data']);
  });

  test('[F-2] no other response to a viewer carries an event', async () => {
    const viewer = await newViewer();
    await send(viewer, 'secret-lights', { colour: 'ultraviolet' });
    await sealed();
    for (const path of [`streams/${viewer.streamId}/`, `view-counts/${viewer.streamId}`, 'time']) {
      expect(await (await viewer.get(`/api/v1/${path}`)).text()).not.toContain('ultraviolet');
    }
  });

  test('[F-3] a sealed interval is answered at once, old or new', async () => {
    const viewer = await newViewer();
    const now = harness.interval();
    for (const interval of [now - 1, now - 5, now - 100_000]) {
      expect(JSON.parse(await textOf(viewer, interval)).interval).toBe(interval);
    }
  });

  test('[F-3] [F-11] an interval that left the memory is read from the record, the same bytes', async () => {
    const viewer = await newViewer();
    await send(viewer, 'lights', { colour: 'grün' });
    const interval = await sealed();
    const fresh = await textOf(viewer, interval);
    expect(fresh).toContain('grün');
    await harness.advance(300);
    expect(await textOf(viewer, interval)).toBe(fresh);
    const [row] = await harness.record.readSealed({
      streamId: viewer.streamId,
      from: interval,
      to: interval,
      limit: 1,
    });
    expect(row?.body).toBe(fresh);
  });

  test('[F-4] the current interval and up to 4 ahead are held until they are sealed', async () => {
    const viewer = await newViewer();
    const now = harness.interval();
    const done: number[] = [];
    const held = [0, 1, 2, 3, 4].map(async (ahead) => {
      const body = await textOf(viewer, now + ahead);
      done.push(now + ahead);
      return body;
    });
    await Bun.sleep(50);
    expect(done).toEqual([]);
    for (let ahead = 0; ahead <= 4; ahead++) {
      await send(viewer, 'step', { ahead });
      await harness.advance(1);
      const body = await held[ahead];
      expect(body).toContain(`{"type":"step","data":{"ahead":${ahead}}}`);
      expect(done).toEqual(Array.from({ length: ahead + 1 }, (_, i) => now + i));
    }
  });

  test('[F-4] everybody who waits for an interval gets the same bytes', async () => {
    const stream = await harness.createStream();
    const viewers = await Promise.all(Array.from({ length: 20 }, () => harness.viewer(stream)));
    const bodies = viewers.map((viewer) => textOf(viewer, harness.interval()));
    await Bun.sleep(20);
    await send(viewers[0] as TestViewer, 'lights', { colour: 'red' });
    await harness.advance(1);
    expect(new Set(await Promise.all(bodies)).size).toBe(1);
  });

  test('[F-5] [F-7] more than 4 ahead is 400 and tells the current interval', async () => {
    const viewer = await newViewer();
    const now = harness.interval();
    for (const interval of [now + 5, now + 1_000, 2 ** 53 - 1]) {
      const problem = await expectProblem(await read(viewer, interval), 400);
      expect(problem.interval).toBe(now);
      expect(problem.detail).toContain(`${now}`);
    }
  });

  const WRONG = ['', '-1', '-0', '01', '00', '+1', '1.0', '1.', '1e3', '0x10', '1_000', ' 1', '1 '];
  const ODD = ['1,2', '९', 'NaN', 'Infinity', 'null', '9007199254740992', '99999999999999999999'];
  test.each([...WRONG, ...ODD])('[F-6] [F-7] interval %p is 400', async (interval) => {
    const viewer = await newViewer();
    const problem = await expectProblem(await read(viewer, encodeURIComponent(interval)), 400);
    expect(problem.interval).toBe(harness.interval());
    expect(problem.detail).toContain('interval');
    expect(problem.detail).toContain(`${harness.interval()}`);
  });

  test('[F-6] missing, repeated or under another name it is 400', async () => {
    const viewer = await newViewer();
    const path = `/api/v1/events-streams/${viewer.streamId}`;
    for (const query of [
      '',
      '?',
      '?interval',
      '?interval=1&interval=1',
      '?Interval=1',
      '?x=1',
      '?x=1?interval=1',
      '?interval=1?interval=1',
    ]) {
      const problem = await expectProblem(await viewer.get(path + query), 400);
      expect(problem.interval).toBe(harness.interval());
    }
    for (const query of ['?interval=1&x=1', '?x=%20&interval=1&', '?%69nterval=1']) {
      expect((await viewer.get(path + query)).status).toBe(200);
    }
  });

  test('[F-8] before the stream existed, and without events, it is empty', async () => {
    const viewer = await newViewer();
    const quiet = (await sealed()) - 1;
    for (const interval of [0, 1, 1_000, quiet - 300, quiet]) {
      expect(await textOf(viewer, interval)).toBe(`{"interval":${interval},"events":[]}`);
    }
  });

  test('[F-10] asking once per interval gives every event once', async () => {
    const viewer = await newViewer();
    const seen: unknown[] = [];
    for (let n = 0; n < 12; n++) {
      if (n % 3 !== 2) await send(viewer, 'tick', { n });
      if (n % 4 === 1) await send(viewer, 'tick', { n: n + 0.5 });
      const interval = await sealed();
      for (const { type, data } of await harness.events(viewer, interval)) {
        if (type === 'tick') seen.push((data as { n: number }).n);
      }
    }
    expect(seen).toEqual([0, 1, 1.5, 3, 4, 5.5, 6, 7, 9, 9.5, 10]);
  });
});

describe('caching', () => {
  test('[F-17] [F-18] a 200 carries a strong ETag and may be kept for ever, privately', async () => {
    const viewer = await newViewer();
    await send(viewer, 'lights', null);
    const interval = await sealed();
    const tags = new Set<string | null>();
    for (const viewerNow of [viewer, viewer, await harness.viewer(viewer.streamId)]) {
      const { headers } = await read(viewerNow, interval);
      expect(headers.get('cache-control')).toBe(PRIVATE);
      tags.add(headers.get('etag'));
    }
    await harness.advance(300);
    tags.add((await read(viewer, interval)).headers.get('etag'));
    expect(tags.size).toBe(1);
    const [tag] = tags;
    expect(tag).toMatch(/^"[^"]+"$/);
    expect((await read(viewer, interval + 1)).headers.get('etag')).not.toBe(tag as string);
  });

  test('[F-18] with --edge-cache it is public', async () => {
    const edge = await startService({ config: { edgeCache: true } });
    try {
      await edge.advance(1);
      const viewer = await edge.viewer(await edge.createStream());
      const { headers } = await read(viewer, edge.interval() - 1);
      expect(headers.get('cache-control')).toBe(
        'public, max-age=31536000, s-maxage=31536000, immutable',
      );
    } finally {
      await edge.close();
    }
  });

  test('[F-19] If-None-Match with the ETag is 304 with the same headers and no body', async () => {
    const viewer = await newViewer();
    const interval = await sealed();
    const full = await read(viewer, interval);
    const tag = full.headers.get('etag') ?? '';
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const unchanged = await read(viewer, interval, { 'If-None-Match': header });
      expect(unchanged.status).toBe(304);
      expectBaseHeaders(unchanged);
      for (const name of ['etag', 'cache-control', 'vary', 'allow']) {
        expect(unchanged.headers.get(name)).toBe(full.headers.get(name));
      }
      expect((await unchanged.bytes()).length).toBe(0);
    }
    for (const header of ['"x"', 'x', '', `${tag.slice(0, -1)}0"`, tag.slice(1, -1)]) {
      expect((await read(viewer, interval, { 'If-None-Match': header })).status).toBe(200);
    }
  });

  test('[F-19] it goes for a held interval too', async () => {
    const viewer = await newViewer();
    const interval = harness.interval();
    const other = (await read(viewer, interval - 1)).headers.get('etag') ?? '';
    const held = read(viewer, interval, { 'If-None-Match': other });
    await Bun.sleep(20);
    await harness.advance(1);
    expect((await held).status).toBe(200);
  });

  test('[F-20] errors of the feed are no-store', async () => {
    const viewer = await newViewer();
    const errors = [
      read(viewer, 'x'),
      read(viewer, harness.interval() + 9),
      read(await newViewer(), 'x'),
    ];
    for (const error of await Promise.all(errors)) {
      expect(error.headers.get('cache-control')).toBe('no-store');
      expect(error.headers.has('etag')).toBe(false);
    }
    const url = `${harness.url}/api/v1/events-streams/${viewer.streamId}?interval=1`;
    expect((await fetch(url)).headers.get('cache-control')).toBe('no-store');
  });
});

describe('sealing', () => {
  test('[F-11] [F-12] an interval has one body, whatever is sent after it was served', async () => {
    const viewer = await newViewer();
    await send(viewer, 'first', null);
    const interval = await sealed();
    const before = await textOf(viewer, interval);
    await send(viewer, 'second', null);
    await viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });
    await harness.service.seal();
    expect(await textOf(viewer, interval)).toBe(before);
    await harness.advance(4);
    expect(await textOf(viewer, interval)).toBe(before);
    const watermark = await harness.record.readWatermark({});
    expect(watermark).toBe(harness.interval() - 1);
    await send(viewer, 'third', null);
    for (let i = 0; i < 3; i++) await harness.service.seal();
    expect(await harness.record.readWatermark({})).toBe(watermark);
    expect((await harness.events(viewer, watermark)).map(({ type }) => type)).not.toContain(
      'third',
    );
  });

  test('[F-13] an interval whose sealing failed is not served, and nothing in it is lost', async () => {
    let failing = false;
    const shaky = await startService({
      record: (record) => ({
        ...record,
        sealInterval: (input) =>
          failing ? Promise.reject(new Error('disk full')) : record.sealInterval(input),
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

  test('[F-14] a durable event is in the first interval sealed after its commit, and in no other', async () => {
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

  test('[F-15] view-count comes first, then chats, then events in the order of recording', async () => {
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
    const events = await harness.events(viewer, await sealed());
    expect(events.map(({ type }) => type)).toEqual(['view-count', 'chats', 'b', 'quiz', 'a', 'c']);
  });

  test('[F-16] what waits goes into the newest ended interval, those before it are empty', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    await send(viewer, 'waiting', null);
    if (!('set' in harness.clock)) throw new Error('the clock stands still');
    (harness.clock as { set(ms: number): void }).set((from + 6) * 250);
    await harness.service.seal();
    const types: string[][] = [];
    for (let interval = from; interval < from + 6; interval++) {
      const events = await harness.events(viewer, interval);
      types.push(events.map(({ type }) => type).filter((type) => type === 'waiting'));
    }
    expect(types).toEqual([[], [], [], [], [], ['waiting']]);
  });

  test('[F-9] a held interval that is not sealed in time is 503 with Retry-After', async () => {
    let giveUp: (error: Error) => void = () => {};
    const never = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const stuck = await startService({
      clock: 'real',
      record: (record) => ({ ...record, sealInterval: () => never }),
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
});
