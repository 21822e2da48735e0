import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { Delivery } from '../../protocol/webhooks.ts';
import type { Sealing } from '../../server/realtime/feed/sealing-sql.ts';
import { openBackends } from '../support/harness/backends.ts';
import {
  expectJson,
  type Harness,
  manualClock,
  START_MS,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';
import { STREAM } from '../support/streams/show-fixture.ts';
import { until } from '../support/until.ts';

/** The lead of service time when it is set back. */
const AHEAD_MS = 15_000;
const SERVED_INTERVALS = 12;

type Account = Harness['account'];

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function bodies(viewer: TestViewer, from: number): Promise<string[]> {
  const texts: string[] = [];
  for (let interval = from; interval < from + SERVED_INTERVALS; interval++) {
    const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
    const response = await viewer.get(path);
    expect(response.status).toBe(200);
    texts.push(await response.text());
  }
  return texts;
}

async function change(harness: Harness, { token }: Account, id: string, action: string) {
  return (await harness.studio('POST', `/streams/${id}/${action}`, undefined, { token })).status;
}

async function statusOf(harness: Harness, { token }: Account, id: string): Promise<string> {
  const response = await harness.studio('GET', `/streams/${id}`, undefined, { token });
  return (await expectJson<{ status: string }>(response, 200)).status;
}

async function createWebhook(harness: Harness, { token }: Account): Promise<string> {
  const body = { url: 'https://hooks.example.org/', events: ['stream.ended'] };
  const response = await harness.studio('POST', '/webhooks', body, { token });
  return (await expectJson<{ id: string }>(response, 201)).id;
}

/** The streams that the service has tried to report to a webhook. */
async function reportedStreams(harness: Harness, { token }: Account, id: string) {
  const path = `/webhooks/${id}/deliveries`;
  const response = await harness.studio('GET', path, undefined, { token });
  const { results } = await expectJson<{ results: Delivery[] }>(response, 200);
  return results
    .filter(({ attempts }) => attempts.length > 0)
    .map(({ body }) => JSON.parse(body).data.streamId as string);
}

const heartbeat = (viewer: TestViewer) => viewer.post(`/api/v1/view-counts/${viewer.streamId}`);

test.each(['embedded', 'shared'] as const)(
  '[K-7] [I-1] set-back keeps what was served, ends the streams that have it, and lets others go on: %s',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'fourbeat-set-back-'));
    directories.push(directory);
    // Stays open, so that the servers keep their data between the services.
    const { database, close } = await openBackends(kind, directory);
    const shared = { directory, backends: kind };
    const ahead = await startService({ ...shared, clock: manualClock(START_MS + AHEAD_MS) });
    // Each service of the harness creates an account; this one owns the streams.
    const { account } = ahead;
    const live = await ahead.createStream();
    await change(ahead, account, live, 'start');
    const lobby = await ahead.createStream();
    const over = await ahead.createStream();
    await change(ahead, account, over, 'end');
    const planned = await ahead.createStream();
    const webhook = await createWebhook(ahead, account);
    const servedIds = [live, lobby, over];
    const watching = await Promise.all(servedIds.map((id) => ahead.viewer(id)));
    const from = ahead.interval();
    await ahead.publishQuiz(live, { duration: 600_000 });
    await Promise.all(watching.map(heartbeat));
    await ahead.advance(SERVED_INTERVALS);
    const served = await Promise.all(watching.map((viewer) => bodies(viewer, from)));
    for (const texts of served) expect(texts.join()).toContain('view-count');
    await ahead.close();

    const systemMs = START_MS;
    const plan = await database.store.setServiceTimeBack({ systemMs });
    expect(plan.streams.map(({ id }) => id)).toEqual([live, lobby]);
    expect(plan.aheadMs).toBeGreaterThanOrEqual(AHEAD_MS + SERVED_INTERVALS * INTERVAL_MS);
    const again = database.store.setServiceTimeBack({ systemMs });
    expect(await again.catch((error: Error) => error.message)).toContain('not ahead');

    const back = await startService({ ...shared, clock: manualClock(systemMs) });
    expect(back.interval()).toBe(intervalAt(systemMs));
    expect(await Promise.all(servedIds.map((id) => statusOf(back, account, id)))).toEqual(
      servedIds.map(() => 'ENDED'),
    );
    expect(await change(back, account, live, 'reopen')).toBe(409);
    expect(await change(back, account, over, 'reopen')).toBe(409);
    // A stream that nobody read goes on, with the same signing keys.
    expect([
      await statusOf(back, account, planned),
      await change(back, account, planned, 'start'),
    ]).toEqual(['CREATED', 200]);
    const viewer = await back.viewer(planned);
    const event = { type: 'tick', data: { number: 1 } };
    const { token } = account;
    await back.studio('POST', `/streams/${planned}/events`, event, { token });
    const first = back.interval();
    await back.advance(SERVED_INTERVALS);
    expect((await bodies(viewer, first)).join()).toContain('tick');

    await until('the end of the show is reported', async () => {
      await back.service.sendWebhooks();
      const reported = await reportedStreams(back, account, webhook);
      return [live, lobby].every((id) => reported.includes(id));
    });

    // Time comes to the intervals that were served, while viewers watch and write.
    const returned = await Promise.all(servedIds.map((id) => back.viewer(id)));
    while (back.interval() < from + SERVED_INTERVALS) {
      await Promise.all(returned.map(heartbeat));
      for (const { post, streamId } of returned) {
        await post(`/api/v1/events-streams/${streamId}/chats`, { kind: 'heart' });
      }
      await back.advance(1);
    }
    expect(await Promise.all(returned.map((viewer) => bodies(viewer, from)))).toEqual(served);
    // Their feeds go on after the last of these intervals.
    const next = from + SERVED_INTERVALS;
    await back.advance(SERVED_INTERVALS);
    for (const viewer of returned)
      expect((await bodies(viewer, next)).join()).toContain('"value":1');
    await back.close();
    await close();
  },
);

test.each(['embedded', 'shared'] as const)(
  '[K-7] [I-1] a second, smaller set-back keeps what was served before the first: %s',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'fourbeat-set-back-'));
    directories.push(directory);
    const { database, close } = await openBackends(kind, directory);
    const { store } = database;
    const own = { producer: crypto.randomUUID(), nowMs: START_MS };
    const user = { uuid: own.producer, email: 'a@example.org', name: 'A producer', created: 0 };
    const token = { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' };
    await store.createAccount({ user, token, nowMs: START_MS });
    const streamId = crypto.randomUUID();
    await store.createStream({ ...own, id: streamId, stream: STREAM });
    const viewCount = { value: 1, formatted: '1' };
    const seal = async (interval: number, transients: Sealing['transients'] = []) => {
      const after = await store.readWatermark({});
      const nowMs = intervalStartMs(interval + 1);
      return store.sealInterval({ after, interval, nowMs, transients });
    };
    const watched = [{ streamId, viewCount, chats: null }];
    const now = intervalAt(START_MS);
    const tenHours = now + (10 * 3_600_000) / INTERVAL_MS;
    const served = await seal(tenHours, watched);
    expect(served).toMatchObject({ outcome: 'sealed', bodies: [{ streamId }] });
    await store.setServiceTimeBack({ systemMs: START_MS });
    await seal(now + (20 * 60_000) / INTERVAL_MS);
    await store.setServiceTimeBack({ systemMs: START_MS });
    expect(await seal(tenHours, watched)).toEqual(served);
    await close();
  },
);
