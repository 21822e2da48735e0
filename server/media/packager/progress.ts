import type { EncoderProgress } from './encoder.ts';

/** Limit of an unfinished line; a whole report has about 500 bytes. */
const LINE_CHARACTERS_MAX = 4_096;

interface ProgressSample {
  readonly atMs: number;
  readonly frames: number;
  readonly outUs: number;
}

/**
 * Parses the output of ffmpeg's `-progress`: lines such as `frame=120`, and `progress=continue` at the
 * end of a report. Speed and frame rate are those since the previous report.
 */
export class ProgressReader {
  private readonly decoder = new TextDecoder();
  private partialLine = '';
  private readonly values = new Map<string, string>();
  private previousSample: ProgressSample | null = null;

  /** @returns the reports that are complete now */
  push(bytes: Uint8Array, nowMs: number): EncoderProgress[] {
    const lines = (this.partialLine + this.decoder.decode(bytes, { stream: true })).split('\n');
    this.partialLine = (lines.pop() ?? '').slice(0, LINE_CHARACTERS_MAX);
    const reports: EncoderProgress[] = [];
    for (const line of lines) {
      const [key = '', value = ''] = line.split('=', 2).map((part) => part.trim());
      if (key === 'progress') reports.push(this.report(nowMs));
      else if (KEYS.has(key)) this.values.set(key, value);
    }
    return reports;
  }

  private report(nowMs: number): EncoderProgress {
    const frames = this.number('frame');
    const outUs = this.number('out_time_us');
    const dropped = this.number('drop_frames');
    const duplicated = this.number('dup_frames');
    const previous = this.previousSample;
    this.previousSample = { atMs: nowMs, frames, outUs };
    if (!previous || nowMs <= previous.atMs) {
      // ffmpeg's own averages, from its start.
      const [fps, speed] = [this.number('fps'), this.number('speed')];
      return { frames, dropped, duplicated, fps, speed };
    }
    const elapsedMs = nowMs - previous.atMs;
    const fps = ((frames - previous.frames) * 1000) / elapsedMs;
    const speed = (outUs - previous.outUs) / 1000 / elapsedMs;
    return { frames, dropped, duplicated, fps, speed };
  }

  /** The value of a key; 0 when it is unknown (`N/A`). */
  private number(key: string): number {
    const value = Number.parseFloat(this.values.get(key) ?? '');
    return Number.isFinite(value) ? value : 0;
  }
}

const KEYS: ReadonlySet<string> = new Set([
  'frame',
  'fps',
  'out_time_us',
  'dup_frames',
  'drop_frames',
  'speed',
]);
