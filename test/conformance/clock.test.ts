import { expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { createClock } from '../../server/platform/clock.ts';
import {
  expectBaseHeaders,
  expectMembers,
  expectProblem,
} from '../support/conformance/expectations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, manualClock, START_MS, startService } from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';

interface Time {
  readonly now: number;
  readonly interval: number;
}

const clock = manualClock(START_MS);
const harness = await serviceOfFile({ clock });

const time = async (url = harness.url, headers: Record<string, string> = {}) =>
  expectJson<Time>(await fetch(`${url}/api/v1/time`, { headers }), 200);

test('[K-1] an interval is floor(Unix ms / 250), four a second', async () => {
  expect(INTERVAL_MS).toBe(250);
  for (const ms of [0, 1, 249, 250, 251, 999, 1_000, 86_399_999]) {
    clock.set(START_MS + ms);
    const { now, interval } = await time();
    expect([now, interval]).toEqual([START_MS + ms, Math.floor((START_MS + ms) / 250)]);
  }
  expect(intervalAt(1_000) - intervalAt(0)).toBe(4);
});

test('[K-2] the time needs no credential, is no-store and has exactly now and interval of the same moment', async () => {
  const response = await fetch(`${harness.url}/api/v1/time`);
  expectBaseHeaders(response);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const body = await expectJson<Time>(response, 200);
  expectMembers(body, ['now', 'interval']);
  expect(body.interval).toBe(Math.floor(body.now / 250));
  for (const authorization of ['Bearer x', 'Token x', 'nonsense']) {
    expectMembers(await time(harness.url, { Authorization: authorization }), ['now', 'interval']);
  }
});

test('[K-2] [F-10] the time endpoint and the feed use the same clock', async () => {
  await using real = await startService({ clock: 'real' });
  const { interval } = await time(real.url);
  const viewer = await real.viewer(await real.createStream());
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=`;
  expect((await viewer.get(`${path}${interval}`)).status).toBe(200);
  const refused = await viewer.get(`${path}${interval + 400}`);
  const problem = await expectJson<Time>(refused, 400);
  expect(problem.interval).toBeWithin(interval, interval + 20);
});

test('[K-3] the time with Accept: text/plain is ISO 8601 in UTC with milliseconds', async () => {
  clock.set(START_MS + 7);
  for (const accept of ['text/plain', 'text/plain, */*;q=0.1', 'text/plain, application/json']) {
    const response = await fetch(`${harness.url}/api/v1/time`, { headers: { Accept: accept } });
    expectBaseHeaders(response);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain(;|$)/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.text();
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(text)).toBe(START_MS + 7);
  }
});

test('[K-3] [M-25] the time with format=iso is ISO 8601, for DASH players, which cannot set headers', async () => {
  clock.set(START_MS + 9);
  const request = (format: string, accept: string) =>
    fetch(`${harness.url}/api/v1/time?format=${format}`, { headers: { Accept: accept } });
  for (const accept of ['*/*', 'application/json']) {
    const response = await request('iso', accept);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain(;|$)/);
    expect(Date.parse(await response.text())).toBe(START_MS + 9);
  }
  expectMembers(await expectJson<Time>(await request('json', 'text/plain'), 200), [
    'now',
    'interval',
  ]);
  await expectProblem(await request('ntp', '*/*'), 400);
});

test('[K-3] [G-15] the time is JSON when Accept lists JSON before text/plain, as axios does by default', async () => {
  for (const accept of ['application/json, text/plain, */*', 'text/plain;q=0.5, */*']) {
    expectMembers(await time(harness.url, { Accept: accept }), ['now', 'interval']);
  }
});

test('[K-4] [K-5] the time over HTTP never goes back when the system clock is set back', async () => {
  let systemMs = START_MS;
  let monotonicMs = 0;
  const stepped = createClock({
    systemMs: () => systemMs,
    monotonicMs: () => monotonicMs,
    notBeforeMs: 0,
  });
  await using service = await startService({ clock: stepped });
  let last = (await time(service.url)).now;
  for (const stepMs of [0, -3_600_000, 0, 5_000, -10, 0, 9_000, -86_400_000]) {
    systemMs += stepMs + 100;
    monotonicMs += 100;
    const { now } = await time(service.url);
    // Service time is corrected by at most 1 % of the 100 ms.
    expect(now - last).toBeWithin(98, 102);
    last = now;
  }
});

test('[K-6] after a restart the time is past the last sealed interval, whatever the system clock shows', async () => {
  using folder = temporaryFolder();
  const directory = folder.path('data');
  const ahead = manualClock(Date.now() + 3_600_000);
  const before = await startService({ clock: ahead, directory });
  const stream = await before.createStream();
  await before.advance(2);
  const sealed = before.interval() - 1;
  await before.close();
  await using after = await startService({ clock: 'real', directory });
  const { now, interval } = await time(after.url);
  expect(now).toBeGreaterThanOrEqual(intervalStartMs(sealed + 1));
  expect(interval).toBeGreaterThan(sealed);
  const viewer = await after.viewer(stream);
  const read = await viewer.get(`/api/v1/events-streams/${stream}?interval=${sealed}`);
  expect(read.status).toBe(200);
});
