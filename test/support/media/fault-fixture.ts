import { expect } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import type { Subprocess } from 'bun';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';
import type { HlsMediaPlaylist } from './conformance/hls-parser.ts';
import { ingestOf, playlistOf, rtmpOf, StreamCheck, segmentsOf, send } from './live-fixture.ts';

const MAX_LATENCY_MS = 2_000;

/** A stream without faults and its viewer, which must not notice the faults of others. */
export class UndisturbedStream {
  private isStopped = false;
  private readonly watching: Promise<void>;
  readonly latenciesMs: number[] = [];
  readonly counts = new Set<number>();

  static async begin(service: Harness): Promise<UndisturbedStream> {
    const streamId = await service.createStream();
    const source = send(rtmpOf(await ingestOf(service, streamId)), { seconds: 300 });
    await segmentsOf(service, streamId, 2);
    return new UndisturbedStream(service, streamId, source, await service.viewer(streamId));
  }

  private constructor(
    private readonly service: Harness,
    readonly streamId: string,
    readonly source: Subprocess,
    viewer: TestViewer,
  ) {
    this.watching = this.watch(viewer);
  }

  /** Ends the observation. @throws when the stream or its feed was disturbed */
  async check(): Promise<void> {
    this.isStopped = true;
    const { service } = this;
    await this.watching;
    expect(this.latenciesMs.length).toBeGreaterThan(40);
    expect(Math.max(...this.latenciesMs)).toBeLessThan(MAX_LATENCY_MS);
    expect([...this.counts]).toEqual([1]);
    const playlist = await playlistOf(service, this.streamId);
    expect(discontinuitiesOf(playlist)).toBe(0);
    expect(await new StreamCheck(service, this.streamId).violations()).toEqual([]);
  }

  /** Reads every interval and sends a heartbeat each second. */
  private async watch(viewer: TestViewer): Promise<void> {
    const { service } = this;
    for (let interval = service.interval(); !this.isStopped; interval++) {
      const { clock } = service;
      const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
      const feed = await expectJson<{ interval: number }>(await viewer.get(path), 200);
      expect(feed.interval).toBe(interval);
      this.latenciesMs.push(clock.nowMs() - intervalStartMs(interval + 1));
      if (interval % 4 !== 0) continue;
      expect((await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).ok).toBe(true);
      const counted = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
      this.counts.add((await expectJson<{ value: number }>(counted, 200)).value);
    }
  }
}

/** Number of discontinuities up to the newest segment; -1 without a segment. */
export function discontinuitiesOf(playlist: HlsMediaPlaylist | null): number {
  return playlist?.segments.at(-1)?.discontinuity ?? -1;
}

/** Process ids of encoders that are children of this process. */
export function encoderPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [stat, command] = [procFileOf(pid, 'stat'), procFileOf(pid, 'cmdline')];
      const parent = Number(stat.split(')').at(-1)?.trim().split(' ')[1]);
      return parent === process.pid && command.includes('-copyts');
    });
}

/** Content of a /proc file of a process; empty when the process has exited. */
export function procFileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Resident memory of a process, MB. */
export function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(procFileOf(pid, 'status'))?.[1] ?? 0) / 1_024;
}
