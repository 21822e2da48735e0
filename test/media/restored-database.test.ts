import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectJson, START_MS, startService } from '../support/harness/harness.ts';
import {
  addSegments,
  BEGIN_MS,
  createFixture,
  epochOf,
  range,
  removeFixtures,
} from '../support/media/segment-store-fixture.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;
const SEGMENTS = 130;

afterEach(removeFixtures);

/** Stores the recording of a show that was live when the database was lost. */
async function storeRecording(directory: string, streamId: string): Promise<void> {
  const fixture = await createFixture({ directory });
  const segments = await (await fixture.start()).open(streamId);
  segments.setRetention('recording');
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, SEGMENTS));
  await segments.close(false);
}

test('[M-27] after the restore of a backup requests, starts and time delete no recording, except of streams that ended without one', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-restored-'));
  const media = join(directory, 'media');
  const countOf = (streamId: string) =>
    readdirSync(join(media, streamId)).filter((name) => name.endsWith('.segment')).length;
  try {
    // The restored state is from before the starts, and before `recording` was switched on.
    const before = await startService({ directory });
    const autoStart = false;
    const recorded = await before.createStream({ autoStart, recording: true });
    const switchedOn = await before.createStream({ autoStart });
    const unwanted = await before.createStream({ autoStart });
    await expectJson(await before.studio('POST', `/streams/${unwanted}/end`), 200);
    await before.close();
    for (const id of [recorded, switchedOn, unwanted]) await storeRecording(media, id);

    await using service = await startService({ directory });
    service.pass(BEGIN_MS + DAY_MS - START_MS);
    const response = await fetch(`${service.url}/media/${recorded}/master.m3u8`);
    expect(response.status).toBe(404);
    await until('removal', () => readdirSync(media).length === 2);
    // Three sweeps check each of three recordings.
    await Bun.sleep(3_200);
    expect([recorded, switchedOn].map(countOf)).toEqual([SEGMENTS, SEGMENTS]);
    const { token } = before.account;
    const preview = await fetch(`${service.url}/media/previews/${recorded}/v0.m3u8`, {
      headers: { Authorization: `Token ${token}` },
    });
    expect((await preview.text()).match(/\.m4s$/gm)).toHaveLength(SEGMENTS);
    for (const id of [recorded, switchedOn]) {
      const started = await service.studio('POST', `/streams/${id}/start`, undefined, { token });
      await expectJson(started, 200);
      await until('the recording', async () => {
        const { status } = await fetch(`${service.url}/media/${id}/master.m3u8`);
        return status === 200;
      });
    }
    await Bun.sleep(2_200);
    expect([recorded, switchedOn].map(countOf)).toEqual([SEGMENTS, SEGMENTS]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 30_000);
