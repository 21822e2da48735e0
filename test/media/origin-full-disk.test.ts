import { afterAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../support/harness/harness.ts';
import { playTestPicture } from '../support/media/test-source.ts';

// The test needs a file system that is full; only root may mount a small one.
const mount = mkdtempSync(join(tmpdir(), 'fourbeat-small-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount]).status === 0;

afterAll(() => {
  if (isMounted) spawnSync('umount', [mount]);
  rmSync(mount, { recursive: true, force: true });
});

const POLL_MS = 50;

test.skipIf(!isMounted)(
  '[M-29] [M-43] on a full disk the show goes on, and a metric says that it is not recorded (needs the right to mount)',
  async () => {
    const service = await startService({
      clock: 'real',
      media: { preset: 'ultrafast', directory: mount, sourceGraceMs: 1_000 },
    });
    try {
      const streamId = await service.createStream({ recording: true });
      const source = await playTestPicture(service, streamId, '192x108');
      const get = (path: string) => fetch(`${service.url}/media/${streamId}/${path}`);
      let segments: string[] = [];
      while (segments.length < 4) {
        segments = (await (await get('v0.m3u8')).text()).match(/^\w+\/\d+-\d+\.m4s$/gm) ?? [];
        await Bun.sleep(POLL_MS);
      }
      for (const path of segments) expect((await get(path)).status).toBe(200);
      const full = service.service.stats.additional.find(
        ({ name }) => name === 'fourbeat_media_disk_full_streams',
      );
      expect([...(full?.read() ?? [])]).toEqual([[1]]);
      const stream = await service.studio('GET', `/streams/${streamId}`);
      expect(await stream.json()).toMatchObject({ status: 'STREAMING' });
      source.kill('SIGINT');
      await source.exited;
    } finally {
      await service.close();
    }
  },
  60_000,
);
