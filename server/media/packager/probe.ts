import { type ChildProcess, spawn } from 'node:child_process';
import type { Container } from '../source.ts';
import { ChildInput } from './child-input.ts';
import type { Probe, SourceInfo, StartProbe } from './encoder.ts';
import { inputArguments, LOOK_MS } from './ffmpeg-arguments.ts';
import { CANNOT_RUN, limited } from './limited.ts';
import { PROBE_ENTRIES, sourceInfoFrom } from './source-info.ts';

/**
 * How much of a source is looked at, ms. Nearly all that send begin with a key frame; one that
 * comes in the middle is understood when the next key frame has come.
 */
const LOOKS_MS = [LOOK_MS, 8 * LOOK_MS];
/** How long a probe takes at most, ms. */
export interface ProbeTimes {
  /** After this time ffprobe must do with what it has. */
  readonly enoughMs: number;
  /** Soon after that it must be done. */
  readonly latestMs: number;
}
const TIMES: ProbeTimes = { enoughMs: 8_500, latestMs: 10_000 };
/** What is kept for a second look: some 8 s of the largest source that the ladder is made for. */
const BYTES_MAX = 16 << 20;
/**
 * It decodes a picture of each track: 43 MB for one of 4K, and twice that with many references. A
 * file of 1.7 MB with 60 tracks made it take 2.6 GB.
 */
const ADDRESS_BYTES_MAX = 1.5 * 2 ** 30;
/** Of what ffprobe says. A source may have some hundred streams that are nothing. */
const OUTPUT_CHARACTERS_MAX = 1 << 20;

/** Looks at sources with ffprobe. @param ffprobe the program */
export function startProbe(ffprobe: string, times: ProbeTimes = TIMES): StartProbe {
  return (container) => new FfprobeProbe(ffprobe, container, times);
}

class FfprobeProbe implements Probe {
  readonly result: Promise<SourceInfo>;
  private readonly settle: PromiseWithResolvers<SourceInfo> = Promise.withResolvers();
  private readonly timers: readonly Timer[];
  private seen: Uint8Array[] = [];
  private seenBytes = 0;
  private isEnough = false;
  private isOver = false;
  private looks = 0;
  private child: ChildProcess | null = null;
  private input: ChildInput | null = null;

  constructor(
    private readonly ffprobe: string,
    private readonly container: Container,
    { enoughMs, latestMs }: ProbeTimes,
  ) {
    this.result = this.settle.promise;
    // Who kills a probe no longer asks for its result.
    this.result.catch(() => {});
    this.timers = [
      setTimeout(() => this.enough(), enoughMs),
      setTimeout(() => this.fail('it is not understood, or too little came to tell'), latestMs),
    ];
    this.look();
  }

  write(bytes: Uint8Array): void {
    if (this.isOver || this.isEnough) return;
    this.seen.push(bytes);
    this.seenBytes += bytes.length;
    this.input?.write(bytes);
    if (this.seenBytes > BYTES_MAX) this.enough();
  }

  kill(): void {
    this.fail('it ended before it was understood');
  }

  /** Starts ffprobe on what was seen, and on what comes. */
  private look(): void {
    const lookMs = LOOKS_MS[this.looks++] ?? LOOK_MS;
    const command = [this.ffprobe, ...probeArguments(this.container, lookMs)];
    const child = spawn(...limited(ADDRESS_BYTES_MAX, command), {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.child = child;
    const input = new ChildInput(child.stdin);
    this.input = input;
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, OUTPUT_CHARACTERS_MAX);
    });
    child.on('error', (error) => this.fail(`ffprobe cannot be run: ${error.message}`));
    child.on('close', (code) => {
      input.gone();
      if (CANNOT_RUN.has(code)) this.fail('ffprobe cannot be run');
      else this.looked(output, lookMs);
    });
    for (const bytes of this.seen) input.write(bytes);
    if (this.isEnough) input.end();
  }

  private looked(output: string, lookMs: number): void {
    if (this.isOver) return;
    try {
      const info = sourceInfoFrom(output);
      this.over();
      this.settle.resolve({ ...info, lookMs });
    } catch (error) {
      if (this.looks < LOOKS_MS.length && !this.isEnough) this.look();
      else this.fail((error as Error).message);
    }
  }

  /** No more is looked at. */
  private enough(): void {
    this.isEnough = true;
    this.input?.end();
  }

  private fail(reason: string): void {
    if (this.isOver) return;
    this.over();
    this.child?.kill('SIGKILL');
    this.settle.reject(new Error(reason));
  }

  private over(): void {
    this.isOver = true;
    this.seen = [];
    this.input?.gone();
    for (const timer of this.timers) clearTimeout(timer);
  }
}

function probeArguments(container: Container, lookMs: number): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'quiet'],
    ...inputArguments(container, lookMs),
    ...['-show_entries', PROBE_ENTRIES],
    ...['-of', 'json'],
    ...['-i', 'pipe:0'],
  ];
}
