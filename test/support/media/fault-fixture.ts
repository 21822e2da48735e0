import { expect } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import type { Subprocess } from 'bun';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';
import type { HlsMediaText } from './conformance/hls-text.ts';
import { ingestOf, playlistOf, rtmpOf, StreamCheck, segmentsOf, send } from './live-fixture.ts';

const LATE_MS = 2_000;

/** A stream that nothing is done to, and its viewer. */
export class CalmStream {
  private isOver = false;
  private readonly watching: Promise<void>;
  readonly latenessesMs: number[] = [];
  readonly counts = new Set<number>();

  static async begin(service: Harness): Promise<CalmStream> {
    const streamId = await service.createStream();
    const source = send(rtmpOf(await ingestOf(service, streamId)), { seconds: 300 });
    await segmentsOf(service, streamId, 2);
    return new CalmStream(service, streamId, source, await service.viewer(streamId));
  }

  private constructor(
    private readonly service: Harness,
    readonly streamId: string,
    readonly source: Subprocess,
    viewer: TestViewer,
  ) {
    this.watching = this.watch(viewer);
  }

  /** @throws what went wrong with it */
  async check(): Promise<void> {
    this.isOver = true;
    const { service } = this;
    await this.watching;
    expect(this.latenessesMs.length).toBeGreaterThan(40);
    expect(Math.max(...this.latenessesMs)).toBeLessThan(LATE_MS);
    expect([...this.counts]).toEqual([1]);
    const playlist = await playlistOf(service, this.streamId);
    expect(discontinuitiesOf(playlist)).toBe(0);
    expect(await new StreamCheck(service, this.streamId).violations()).toEqual([]);
  }

  /** Every interval, one after the other, and a heartbeat each second. */
  private async watch(viewer: TestViewer): Promise<void> {
    const { service } = this;
    for (let interval = service.interval(); !this.isOver; interval++) {
      const { clock } = service;
      const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
      const feed = await expectJson<{ interval: number }>(await viewer.get(path), 200);
      expect(feed.interval).toBe(interval);
      this.latenessesMs.push(clock.nowMs() - intervalStartMs(interval + 1));
      if (interval % 4 !== 0) continue;
      expect((await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).ok).toBe(true);
      const counted = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
      this.counts.add((await expectJson<{ value: number }>(counted, 200)).value);
    }
  }
}

/** How many discontinuities there were up to the newest segment; -1 without one. */
export function discontinuitiesOf(playlist: HlsMediaText | null): number {
  return playlist?.segments.at(-1)?.discontinuity ?? -1;
}

/** Process ids of the encoders of this process. */
export function encoders(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [stat, command] = [textOf(pid, 'stat'), textOf(pid, 'cmdline')];
      const parent = Number(stat.split(')').at(-1)?.trim().split(' ')[1]);
      return parent === process.pid && command.includes('-copyts');
    });
}

/** A file that tells of a process; empty when it is gone. */
export function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Memory of a process, MB. */
export function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(textOf(pid, 'status'))?.[1] ?? 0) / 1_024;
}
