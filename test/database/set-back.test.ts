import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { intervalAt } from '../../protocol/interval.ts';
import { openBackends } from '../support/harness/backends.ts';
import {
  expectJson,
  type Harness,
  manualClock,
  START_MS,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

const HOUR_MS = 3_600_000;
const AHEAD_MS = 2 * HOUR_MS;

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function bodies(harness: Harness, viewer: TestViewer, from: number, to: number) {
  const texts: string[] = [];
  for (let interval = from; interval <= to; interval++) {
    const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
    const response = await viewer.get(path);
    expect(response.status).toBe(200);
    texts.push(await response.text());
  }
  expect(harness.interval()).toBeGreaterThan(to);
  return texts;
}

async function statusOf({ studio }: Harness, id: string, token: string): Promise<string> {
  const response = await studio('GET', `/streams/${id}`, undefined, { token });
  return (await expectJson<{ status: string }>(response, 200)).status;
}

test.each(['embedded', 'shared'] as const)(
  '[K-7] [I-1] set-back keeps what was served, ends the streams that have it, and lets others go on: %s',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'fourbeat-set-back-'));
    directories.push(directory);
    // Stays open, so that the servers keep their data between the services.
    const { database, close } = await openBackends(kind, directory);
    const shared = { directory, backends: kind };
    const ahead = await startService({ ...shared, clock: manualClock(START_MS + AHEAD_MS) });
    const { token } = ahead.account;
    const live = await ahead.createStream();
    await ahead.studio('POST', `/streams/${live}/start`);
    const lobby = await ahead.createStream();
    const planned = await ahead.createStream();
    const [first, second] = [await ahead.viewer(live), await ahead.viewer(lobby)];
    const from = ahead.interval();
    await ahead.publishQuiz(live, { duration: 600_000 });
    for (const { post, streamId } of [first, second]) await post(`/api/v1/view-counts/${streamId}`);
    await ahead.advance(12);
    const served = await bodies(ahead, first, from, from + 11);
    const servedInLobby = await bodies(ahead, second, from, from + 11);
    expect(servedInLobby.join('')).toContain('view-count');
    await ahead.close();

    const systemMs = START_MS + 60_000;
    const plan = await database.store.setServiceTimeBack({ systemMs });
    expect(plan.streams.map(({ id }) => id).sort()).toEqual([live, lobby].sort());
    expect(plan.aheadMs).toBeGreaterThan(AHEAD_MS - 60_000);
    const again = database.store.setServiceTimeBack({ systemMs });
    expect(await again.catch((error: Error) => error.message)).toContain('not ahead');

    const back = await startService({ ...shared, clock: manualClock(systemMs) });
    expect(back.interval()).toBe(intervalAt(systemMs));
    expect(await statusOf(back, live, token)).toBe('ENDED');
    expect(await statusOf(back, planned, token)).toBe('CREATED');
    const reopened = await back.studio('POST', `/streams/${live}/reopen`, undefined, { token });
    expect(reopened.status).toBe(409);
    // A stream that nobody read goes on, with the same signing keys.
    expect(
      (await back.studio('POST', `/streams/${planned}/start`, undefined, { token })).status,
    ).toBe(200);
    const viewer = await back.viewer(planned);
    const event = { type: 'tick', data: { number: 1 } };
    await back.studio('POST', `/streams/${planned}/events`, event, { token });
    const interval = back.interval();
    await back.advance(2);
    expect((await bodies(back, viewer, interval, interval)).join('')).toContain('tick');

    // When time has come to the intervals that were served, they are as they were.
    back.pass(AHEAD_MS);
    await back.service.seal();
    expect(await bodies(back, await back.viewer(live), from, from + 11)).toEqual(served);
    expect(await bodies(back, await back.viewer(lobby), from, from + 11)).toEqual(servedInLobby);
    await back.close();
    await close();
  },
);
