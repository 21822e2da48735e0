import { expect, test } from 'bun:test';
import {
  expectBaseHeaders,
  expectMembers,
  expectProblem,
} from '../support/conformance/expectations.ts';
import { feedSteps } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, type TestViewer } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
await harness.advance(1);

const { newViewer, read, sealNext, send, readText } = feedSteps(harness);

test('[F-1] [F-2] an interval has exactly interval and events, and an event exactly type and data', async () => {
  const viewer = await newViewer();
  await send(viewer, 'lights', { colour: 'red' });
  await send(viewer, 'curtain', null);
  const interval = await sealNext();
  const response = await read(viewer, interval);
  expectBaseHeaders(response);
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = await expectJson<{ interval: number; events: object[] }>(response, 200);
  expectMembers(body, ['interval', 'events']);
  expect(body.interval).toBe(interval);
  expect(body.events).toHaveLength(2);
  for (const event of body.events) expectMembers(event, ['type', 'data']);
});

test('[F-2] no other viewer response contains an event', async () => {
  const viewer = await newViewer();
  await send(viewer, 'secret-lights', { colour: 'ultraviolet' });
  await sealNext();
  for (const path of [`streams/${viewer.streamId}/`, `view-counts/${viewer.streamId}`, 'time']) {
    expect(await (await viewer.get(`/api/v1/${path}`)).text()).not.toContain('ultraviolet');
  }
});

test('[F-3] a sealed interval is served at once, however old', async () => {
  const viewer = await newViewer();
  const now = harness.interval();
  for (const interval of [now - 1, now - 5, now - 100_000]) {
    expect(JSON.parse(await readText(viewer, interval)).interval).toBe(interval);
  }
});

test('[F-3] [F-11] an interval evicted from memory is read from the database with the same bytes', async () => {
  const viewer = await newViewer();
  await send(viewer, 'lights', { colour: 'grün' });
  const interval = await sealNext();
  const fresh = await readText(viewer, interval);
  expect(fresh).toContain('grün');
  await harness.advance(300);
  expect(await readText(viewer, interval)).toBe(fresh);
  const [row] = await harness.store.readSealed({
    streamId: viewer.streamId,
    from: interval,
    to: interval,
    limit: 1,
  });
  expect(row?.body).toBe(fresh);
});

test('[F-4] a request for the current interval or up to 4 ahead waits until the interval is sealed', async () => {
  const viewer = await newViewer();
  const now = harness.interval();
  const done: number[] = [];
  const longPolls = [0, 1, 2, 3, 4].map(async (ahead) => {
    const body = await readText(viewer, now + ahead);
    done.push(now + ahead);
    return body;
  });
  await Bun.sleep(50);
  expect(done).toEqual([]);
  for (let ahead = 0; ahead <= 4; ahead++) {
    await send(viewer, 'step', { ahead });
    await harness.advance(1);
    const body = await longPolls[ahead];
    expect(body).toContain(`{"type":"step","data":{"ahead":${ahead}}}`);
    expect(done).toEqual(Array.from({ length: ahead + 1 }, (_, i) => now + i));
  }
});

test('[F-4] all long polls for an interval get the same bytes', async () => {
  const stream = await harness.createStream();
  const viewers = await Promise.all(Array.from({ length: 20 }, () => harness.viewer(stream)));
  const bodies = viewers.map((viewer) => readText(viewer, harness.interval()));
  await Bun.sleep(20);
  await send(viewers[0] as TestViewer, 'lights', { colour: 'red' });
  await harness.advance(1);
  expect(new Set(await Promise.all(bodies)).size).toBe(1);
});

test('[F-5] [F-7] an interval more than 4 ahead returns 400 with the current interval', async () => {
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
test.each([...WRONG, ...ODD])('[F-6] [F-7] interval %p returns 400', async (interval) => {
  const viewer = await newViewer();
  const problem = await expectProblem(await read(viewer, encodeURIComponent(interval)), 400);
  expect(problem.interval).toBe(harness.interval());
  expect(problem.detail).toContain('interval');
  expect(problem.detail).toContain(`${harness.interval()}`);
});

test('[F-6] a missing, repeated or misnamed interval parameter returns 400', async () => {
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

test('[F-8] an interval before the stream existed, or without events, is empty', async () => {
  const viewer = await newViewer();
  const quiet = (await sealNext()) - 1;
  for (const interval of [0, 1, 1_000, quiet - 300, quiet]) {
    expect(await readText(viewer, interval)).toBe(`{"interval":${interval},"events":[]}`);
  }
});

test('[F-10] reading once per interval yields every event once', async () => {
  const viewer = await newViewer();
  const seen: unknown[] = [];
  for (let n = 0; n < 12; n++) {
    if (n % 3 !== 2) await send(viewer, 'tick', { n });
    if (n % 4 === 1) await send(viewer, 'tick', { n: n + 0.5 });
    const interval = await sealNext();
    for (const { type, data } of await harness.events(viewer, interval)) {
      if (type === 'tick') seen.push((data as { n: number }).n);
    }
  }
  expect(seen).toEqual([0, 1, 1.5, 3, 4, 5.5, 6, 7, 9, 9.5, 10]);
});
