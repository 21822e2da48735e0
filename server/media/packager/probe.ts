import { type ChildProcess, spawn } from 'node:child_process';
import { programEnvironment } from '../../platform/program-environment.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Container } from '../source.ts';
import { ChildInput } from './child-input.ts';
import type { Probe, SourceInfo, StartProbe } from './encoder.ts';
import { ANALYZE_MS, inputArguments } from './ffmpeg-arguments.ts';
import { CANNOT_RUN_EXIT_CODES, withProcessLimits } from './process-limits.ts';
import { PROBE_ENTRIES, parseSourceInfo } from './source-info.ts';

/**
 * Analyzed durations, ms. Nearly all sources start with a key frame; one that starts mid-stream needs
 * the second, longer attempt to reach its next key frame.
 */
const ANALYZE_STEPS_MS = [ANALYZE_MS, 8 * ANALYZE_MS];
/** Time limits of a probe. */
const TIMEOUTS = {
  /** After this time ffprobe gets no more input. */
  inputMs: 8_500,
  /** After this time the probe fails. */
  totalMs: 10_000,
};
/** Bytes kept for the second attempt: 8 s of a source with 2 MB/s. */
const INPUT_BYTES_MAX = 16 << 20;
/**
 * Memory limit of ffprobe, which decodes a frame of each track: 43 MB for 4K, and twice that with many
 * reference frames. A file of 1.7 MB with 60 tracks made it take 2.6 GB.
 */
const ADDRESS_BYTES_MAX = 1.5 * 2 ** 30;
/** Limit of ffprobe's output. A source may have hundreds of invalid streams. */
const OUTPUT_CHARACTERS_MAX = 1 << 20;

/** Probes sources with ffprobe. @param ffprobe name or path of the program */
export function startProbe(ffprobe: string, timeouts = TIMEOUTS): StartProbe {
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
    { inputMs, totalMs }: typeof TIMEOUTS,
  ) {
    this.result = this.settle.promise;
    // No caller handles the result of a killed probe.
    this.result.catch(() => {});
    this.timers = [
      runtime.setTimeout(() => this.endInput(), inputMs),
      runtime.setTimeout(
        () => this.fail('The source was not recognized as video in time.'),
        totalMs,
      ),
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
    this.fail('The source ended before it was recognized.');
  }

  /** Starts ffprobe with the received input; further input follows. */
  private startFfprobe(): void {
    const analyzeMs = ANALYZE_STEPS_MS[this.attempts++] ?? ANALYZE_MS;
    const command = [this.ffprobe, ...probeArguments(this.container, analyzeMs)];
    const child = spawn(...withProcessLimits(ADDRESS_BYTES_MAX, command), {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      env: programEnvironment(),
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
      if (this.attempts < ANALYZE_STEPS_MS.length && !this.isInputEnded) this.tryFfprobe();
      else this.fail((error as Error).message);
    }
  }

  // In the handler of an event, where an error would end the service.
  private tryFfprobe(): void {
    try {
      this.startFfprobe();
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

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
    for (const timer of this.timers) runtime.clearTimer(timer);
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
