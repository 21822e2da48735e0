import { describe, expect, test } from 'bun:test';
import { decodeJwt } from 'jose';
import { EventReader, type Message } from '../support/conformance/event-source.ts';
import {
  expectBaseHeaders,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { feedSteps } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  manualClock,
  START_MS,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

const clock = manualClock(START_MS);
const harness = await serviceOfFile({ clock });
await harness.advance(1);

const SSE = { Accept: 'text/event-stream' };
const { newViewer, send } = feedSteps(harness);
const sendRequest = (viewer: TestViewer, query: string, headers = {}) =>
  viewer.get(`/api/v1/events-streams/${viewer.streamId}${query}`, { ...SSE, ...headers });
const open = async (viewer: TestViewer, interval: number, headers = {}) => {
  const response = await sendRequest(viewer, `?interval=${interval}`, headers);
  expect(response.status).toBe(200);
  return new EventReader(response);
};
const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => Number(id));
const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('an event stream', () => {
  test('[F-21] an event stream is 200 text/event-stream, no-store, with the common headers', async () => {
    const viewer = await newViewer();
    for (const accept of ['text/event-stream', 'Text/Event-Stream, */*;q=0.5']) {
      const response = await sendRequest(viewer, `?interval=${harness.interval()}`, {
        Accept: accept,
      });
      expectBaseHeaders(response);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream(;|$)/);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.has('etag')).toBe(false);
      await response.body?.cancel();
    }
  });

  test('[F-21] [F-23] an event stream sends intervals from the requested one on, in order, each once', async () => {
    const viewer = await newViewer();
    const from = harness.interval() + 2;
    const reader = await open(viewer, from);
    for (let step = 0; step < 8; step++) {
      if (step % 2) await send(viewer, 'tick');
      await harness.advance(1);
    }
    expect(idsOf(await reader.take(6))).toEqual(range(from, 6));
    expect(await reader.next(50)).toBeNull();
    await reader.close();
  });

  test('[F-22] each event stream message has an id and the exact bytes of the JSON body as data', async () => {
    const viewer = await newViewer();
    const from = harness.interval();
    const reader = await open(viewer, from);
    await viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, {
      kind: 'message',
      text: 'Grüße \u2028 “quoted”\\n 😀: data: x',
    });
    await harness.advance(5);
    for (const message of await reader.take(5)) {
      expect(message.fields.map(([name]) => name)).toEqual(['id', 'data']);
      const json = await viewer.get(
        `/api/v1/events-streams/${viewer.streamId}?interval=${message.id}`,
      );
      expect(message.data).toBe(await json.text());
      expect(JSON.parse(message.data).interval).toBe(Number(message.id));
    }
    await reader.close();
  });

  test('[F-23] an event stream sends empty sealed intervals of the last 10 minutes and skips older empty ones', async () => {
    const viewer = await newViewer();
    const old = harness.interval();
    await send(viewer, 'long-ago');
    await harness.advance(1);
    const windowIntervals = 10 * 60 * 4; // 10 minutes
    clock.set((old + windowIntervals + 50) * 250);
    await harness.service.seal();
    const recent = harness.interval();
    await send(viewer, 'recent');
    await harness.advance(1);
    // The earlier token has expired by now.
    const later = await harness.viewer(viewer.streamId);
    const reader = await open(later, old - 20);
    const sealedTo = recent;
    const boundary = sealedTo - windowIntervals;
    const messages = await reader.take(windowIntervals + 5);
    const ids = idsOf(messages);
    expect(ids[0]).toBe(old);
    expect(ids.slice(1, 3)).toEqual([boundary, boundary + 1]);
    expect(ids.at(-1)).toBe(sealedTo);
    expect(ids.slice(1)).toEqual(range(boundary, sealedTo - boundary + 1));
    expect(messages[0]?.data).toContain('long-ago');
    expect(messages.at(-1)?.data).toContain('recent');
    await harness.advance(1);
    expect((await reader.next())?.id).toBe(`${sealedTo + 1}`);
    await reader.close();
  }, 20_000);

  test('[F-24] Last-Event-ID takes precedence over interval and resumes at the next interval', async () => {
    const viewer = await newViewer();
    await harness.advance(6);
    const last = harness.interval() - 4;
    for (const query of ['', '?interval=0', `?interval=${last - 1}`, '?interval=x']) {
      const reader = new EventReader(
        await sendRequest(viewer, query, { 'Last-Event-ID': `${last}` }),
      );
      expect(idsOf(await reader.take(3))).toEqual(range(last + 1, 3));
      await reader.close();
    }
  });

  test('[F-24] [F-6] [F-5] a Last-Event-ID that is not an interval or is too far ahead returns 400', async () => {
    const viewer = await newViewer();
    const now = harness.interval();
    for (const last of ['x', '-1', '01', '1e3', '', '1 2', `${now + 4}`, `${2 ** 53 - 1}`]) {
      const query = `?interval=${now}`;
      const problem = await expectProblem(
        await sendRequest(viewer, query, { 'Last-Event-ID': last }),
        400,
      );
      expect(problem.interval).toBe(now);
      expect(problem.detail).toStartWith('Last-Event-ID ');
    }
    const reader = new EventReader(
      await sendRequest(viewer, '', { 'Last-Event-ID': `${now + 3}` }),
    );
    await harness.advance(6);
    expect((await reader.next())?.id).toBe(`${now + 4}`);
    await reader.close();
  });

  test('[F-21] [G-15] a client that prefers JSON over an event stream gets JSON', async () => {
    const viewer = await newViewer();
    const path = `/api/v1/events-streams/${viewer.streamId}?interval=1`;
    const Accept = 'text/event-stream;q=0.1, application/json';
    const response = await viewer.get(path, { Accept });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ interval: 1, events: [] });
  });

  test('[F-24] Last-Event-ID has no effect without text/event-stream in Accept', async () => {
    const viewer = await newViewer();
    const path = `/api/v1/events-streams/${viewer.streamId}?interval=1`;
    const response = await viewer.get(path, { 'Last-Event-ID': 'x' });
    expect(await response.json()).toEqual({ interval: 1, events: [] });
  });

  test('[F-21] [F-6] [T-11] [T-13] an event stream request returns the same errors as a feed read', async () => {
    const viewer = await newViewer();
    for (const query of ['', '?interval=x', `?interval=${harness.interval() + 5}`]) {
      expect((await expectProblem(await sendRequest(viewer, query), 400)).interval).toBe(
        harness.interval(),
      );
    }
    const other = await newViewer();
    const path = `/api/v1/events-streams/${other.streamId}?interval=1`;
    await expectUnauthorized(await viewer.get(path, SSE), 'Bearer');
    await expectUnauthorized(await fetch(harness.url + path, { headers: SSE }), 'Bearer');
  });

  test('[F-25] an event stream ends when its token expires', async () => {
    const viewer = await newViewer();
    const { exp = 0 } = decodeJwt(viewer.token);
    clock.set(exp * 1000 - 200);
    await harness.service.seal();
    const reader = await open(viewer, harness.interval() - 1);
    expect(await reader.next()).not.toBeNull();
    expect(await reader.ended(2_000)).toBe(true);
    clock.set(exp * 1000);
    await expectUnauthorized(
      await sendRequest(viewer, `?interval=${harness.interval()}`),
      'Bearer',
    );
  });

  test('[F-25] an event stream ends when the service drains, and Last-Event-ID resumes it without loss', async () => {
    const other = await startService({ clock: manualClock(START_MS) });
    await other.advance(1);
    const viewer = await other.viewer(await other.createStream());
    const path = `/api/v1/events-streams/${viewer.streamId}`;
    const reader = new EventReader(await viewer.get(`${path}?interval=${other.interval()}`, SSE));
    await other.advance(2);
    const [, last] = await reader.take(2);
    await reader.close();
    await other.advance(3);
    const resumed = new EventReader(
      await viewer.get(path, { ...SSE, 'Last-Event-ID': last?.id ?? '' }),
    );
    expect(idsOf(await resumed.take(3))).toEqual(range(Number(last?.id) + 1, 3));
    await other.close();
    expect(await resumed.ended()).toBe(true);
  });

  test('[F-25] a new event stream returns 503 with Retry-After while the service drains', async () => {
    const other = await startService({ clock: manualClock(START_MS) });
    await other.advance(1);
    const viewer = await other.viewer(await other.createStream());
    const path = `/api/v1/events-streams/${viewer.streamId}?interval=${other.interval()}`;
    await other.service.drain();
    const response = await viewer.get(path, SSE);
    await expectProblem(response, 503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(other.service.stats.feed().eventStreams).toBe(0);
    await other.close();
  });

  test('[F-25] an event stream is released when its client disconnects', async () => {
    const viewer = await newViewer();
    const before = harness.service.stats.feed().eventStreams;
    const readers = await Promise.all(range(0, 5).map(() => open(viewer, harness.interval())));
    await harness.advance(1);
    for (const reader of readers) await reader.next();
    expect(harness.service.stats.feed().eventStreams).toBe(before + 5);
    await Promise.all(readers.map((reader) => reader.close()));
    for (let i = 0; i < 50 && harness.service.stats.feed().eventStreams > before; i++) {
      await Bun.sleep(10);
    }
    expect(harness.service.stats.feed().eventStreams).toBe(before);
  });

  test('[F-21] an event stream never contains events of another stream', async () => {
    const one = await newViewer();
    const two = await newViewer();
    const reader = await open(two, harness.interval());
    await send(one, 'of-one');
    await harness.advance(2);
    for (const { data } of await reader.take(2)) expect(data).not.toContain('of-one');
    await reader.close();
  });
});
