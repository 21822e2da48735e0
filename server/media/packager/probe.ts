import { type ChildProcess, spawn } from 'node:child_process';
import type { Container } from '../source.ts';
import { ChildInput } from './child-input.ts';
import type { Probe, SourceInfo, StartProbe } from './encoder.ts';
import { ANALYZE_MS, inputArguments } from './ffmpeg-arguments.ts';
import { CANNOT_RUN_EXIT_CODES, withMemoryLimit } from './memory-limit.ts';
import { PROBE_ENTRIES, parseSourceInfo } from './source-info.ts';

/**
 * How much of a source is looked at, ms. Nearly all that send begin with a key frame; one that
 * comes in the middle is understood when the next key frame has come.
 */
const ANALYZE_STEPS_MS = [ANALYZE_MS, 8 * ANALYZE_MS];
/** How long a probe takes at most, ms. */
export interface ProbeTimeouts {
  /** After this time ffprobe must do with what it has. */
  readonly inputMs: number;
  /** Soon after that it must be done. */
  readonly totalMs: number;
}
const DEFAULT_TIMEOUTS: ProbeTimeouts = { inputMs: 8_500, totalMs: 10_000 };
/** What is kept for a second look: some 8 s of the largest source that the ladder is made for. */
const INPUT_BYTES_MAX = 16 << 20;
/**
 * It decodes a picture of each track: 43 MB for one of 4K, and twice that with many references. A
 * file of 1.7 MB with 60 tracks made it take 2.6 GB.
 */
const ADDRESS_BYTES_MAX = 1.5 * 2 ** 30;
/** Of what ffprobe says. A source may have some hundred streams that are nothing. */
const OUTPUT_CHARACTERS_MAX = 1 << 20;

/** Looks at sources with ffprobe. @param ffprobe the program */
export function startProbe(
  ffprobe: string,
  timeouts: ProbeTimeouts = DEFAULT_TIMEOUTS,
): StartProbe {
  return (container) => new FfprobeProbe(ffprobe, container, timeouts);
}

class FfprobeProbe implements Probe {
  readonly result: Promise<SourceInfo>;
  private readonly settle: PromiseWithResolvers<SourceInfo> = Promise.withResolvers();
  private readonly timers: readonly Timer[];
  private received: Uint8Array[] = [];
  private receivedBytes = 0;
  private isInputEnded = false;
  private isSettled = false;
  private attempts = 0;
  private child: ChildProcess | null = null;
  private input: ChildInput | null = null;

  constructor(
    private readonly ffprobe: string,
    private readonly container: Container,
    { inputMs, totalMs }: ProbeTimeouts,
  ) {
    this.result = this.settle.promise;
    // Who kills a probe no longer asks for its result.
    this.result.catch(() => {});
    this.timers = [
      setTimeout(() => this.endInput(), inputMs),
      setTimeout(() => this.fail('it is not understood, or too little came to tell'), totalMs),
    ];
    this.startFfprobe();
  }

  write(bytes: Uint8Array): void {
    if (this.isSettled || this.isInputEnded) return;
    this.received.push(bytes);
    this.receivedBytes += bytes.length;
    this.input?.write(bytes);
    if (this.receivedBytes > INPUT_BYTES_MAX) this.endInput();
  }

  kill(): void {
    this.fail('it ended before it was understood');
  }

  /** Starts ffprobe on what was seen, and on what comes. */
  private startFfprobe(): void {
    const analyzeMs = ANALYZE_STEPS_MS[this.attempts++] ?? ANALYZE_MS;
    const command = [this.ffprobe, ...probeArguments(this.container, analyzeMs)];
    const child = spawn(...withMemoryLimit(ADDRESS_BYTES_MAX, command), {
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
      input.close();
      if (CANNOT_RUN_EXIT_CODES.has(code)) this.fail('ffprobe cannot be run');
      else this.onOutput(output, analyzeMs);
    });
    for (const bytes of this.received) input.write(bytes);
    if (this.isInputEnded) input.end();
  }

  private onOutput(output: string, analyzeMs: number): void {
    if (this.isSettled) return;
    try {
      const info = parseSourceInfo(output);
      this.cleanUp();
      this.settle.resolve({ ...info, analyzeMs });
    } catch (error) {
      if (this.attempts < ANALYZE_STEPS_MS.length && !this.isInputEnded) this.startFfprobe();
      else this.fail((error as Error).message);
    }
  }

  /** No more is looked at. */
  private endInput(): void {
    this.isInputEnded = true;
    this.input?.end();
  }

  private fail(reason: string): void {
    if (this.isSettled) return;
    this.cleanUp();
    this.child?.kill('SIGKILL');
    this.settle.reject(new Error(reason));
  }

  private cleanUp(): void {
    this.isSettled = true;
    this.received = [];
    this.input?.close();
    for (const timer of this.timers) clearTimeout(timer);
  }
}

function probeArguments(container: Container, analyzeMs: number): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'quiet'],
    ...inputArguments(container, analyzeMs),
    ...['-show_entries', PROBE_ENTRIES],
    ...['-of', 'json'],
    ...['-i', 'pipe:0'],
  ];
}
