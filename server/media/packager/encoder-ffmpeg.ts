import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { programEnvironment } from '../../platform/program-environment.ts';
import { runtime } from '../../platform/runtime.ts';
import { waitAtMost } from '../../platform/wait-at-most.ts';
import { ChildInput } from './child-input.ts';
import type { Encoder, EncoderEvents, EncoderExit, EncoderOptions } from './encoder.ts';
import { EncoderTracks } from './encoder-tracks.ts';
import { encoderArguments, FIRST_TRACK_FD } from './ffmpeg-arguments.ts';
import { LastLines } from './last-lines.ts';
import { withProcessLimits } from './process-limits.ts';
import { ProgressReader } from './progress.ts';

const CHECK_INTERVAL_MS = 500;
/** Pause after each read of the log of ffmpeg. */
const LOG_PAUSE_MS = 50;
/** Most time to read the pipes after an exit; they are empty at once, unless a child lives on. */
const PIPE_DRAIN_MS = 2_000;
/**
 * Memory limit of an encoder: twice what three renditions of 4096 × 2160 take. A malicious source can
 * make ffmpeg take all memory; that must end only this encoder.
 */
const MEMORY_BYTES_MAX = 4 * 2 ** 30;
/** Limit of the address space: takes effect at once, and without `/proc`. */
const ADDRESS_BYTES_MAX = 8 * 2 ** 30;
/** Clock ticks a second in `/proc` (USER_HZ): the same on every Linux. */
const PROC_TICKS_PER_S = 100;

/**
 * Runs ffmpeg. A program that cannot be run counts as an encoder that exits.
 * @param memoryBytes an encoder that takes more is killed
 */
export function startEncoder(
  options: EncoderOptions,
  events: EncoderEvents,
  memoryBytes = MEMORY_BYTES_MAX,
): Encoder {
  return new FfmpegEncoder(options, events, memoryBytes);
}

class FfmpegEncoder implements Encoder {
  readonly exited: Promise<EncoderExit>;
  private readonly child: ChildProcess;
  private readonly input: ChildInput;
  private readonly tracks: EncoderTracks;
  private readonly lastLines = new LastLines();
  private readonly progress = new ProgressReader();
  private readonly timer: Timer;
  private lastCpuSeconds: number | null = null;

  constructor(
    options: EncoderOptions,
    private readonly events: EncoderEvents,
    private readonly memoryBytes: number,
  ) {
    this.tracks = new EncoderTracks(options, events);
    const pipes = FIRST_TRACK_FD + this.tracks.writtenTracks.length;
    // In its own process group, so that Ctrl-C in a terminal does not kill it before it has encoded
    // its input. It exits when its standard input closes, however this process ends.
    const command = [options.settings.ffmpeg, ...encoderArguments(options)];
    this.child = spawn(...withProcessLimits(ADDRESS_BYTES_MAX, command), {
      stdio: Array.from({ length: pipes }, () => 'pipe' as const),
      detached: true,
      env: programEnvironment(),
    });
    this.input = new ChildInput(this.child.stdin);
    this.timer = runtime.setInterval(() => this.check(), CHECK_INTERVAL_MS);
    this.exited = this.waitForExit();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  write(bytes: Uint8Array): boolean {
    return this.input.write(bytes);
  }

  drained(): Promise<void> {
    return this.input.drained();
  }

  pendingBytes(): number {
    return this.input.pendingBytes();
  }

  finish(): void {
    this.input.end();
  }

  kill(): void {
    this.input.close();
    this.child.kill('SIGKILL');
  }

  cpuSeconds(): number | null {
    this.lastCpuSeconds = cpuSecondsOf(this.pid) ?? this.lastCpuSeconds;
    return this.lastCpuSeconds;
  }

  private async waitForExit(): Promise<EncoderExit> {
    const ended = new Promise<Omit<EncoderExit, 'lastLines'>>((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
      this.child.once('error', (error) => {
        this.addLogLine(error.message);
        resolve({ code: null, signal: null });
      });
    });
    const read = this.readPipes();
    const exit = await ended;
    runtime.clearTimer(this.timer);
    this.input.close();
    if (this.child.pid !== undefined) await waitAtMost(PIPE_DRAIN_MS, read);
    return { ...exit, lastLines: this.lastLines.list() };
  }

  private readPipes(): Promise<unknown> {
    const { stdout, stderr, stdio } = this.child;
    const pipes = [
      readPipe(stdout, (bytes) => {
        const reports = this.progress.push(bytes, runtime.monotonicMs());
        for (const report of reports) this.events.onProgress(report);
        // Measure with each report, because after the exit it is too late.
        this.cpuSeconds();
      }),
      readPipe(stderr, (bytes) => {
        this.lastLines.push(bytes);
        // ffmpeg writes each line by itself: a broken source made 20,000 reads a second.
        stderr?.pause();
        runtime.setTimeout(() => stderr?.resume(), LOG_PAUSE_MS);
      }),
      ...this.tracks.writtenTracks.map((_, index) =>
        readPipe(stdio[FIRST_TRACK_FD + index] as Readable | null, (bytes) =>
          this.killOnError(() => this.tracks.push(index, bytes, runtime.monotonicMs())),
        ),
      ),
    ];
    return Promise.all(pipes);
  }

  private check(): void {
    this.cpuSeconds();
    this.killOnError(() => {
      if (memoryBytesOf(this.pid) > this.memoryBytes)
        throw new Error('the encoder exceeded its memory limit');
      this.tracks.checkAudio(runtime.monotonicMs());
    });
  }

  /** Runs a step; an error kills this encoder only. */
  private killOnError(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.addLogLine((error as Error).message);
      this.kill();
    }
  }

  private addLogLine(line: string): void {
    this.lastLines.push(new TextEncoder().encode(`\n${line}\n`));
  }
}

/** Reads a pipe. Resolves when it has ended, for whatever reason. */
function readPipe(pipe: Readable | null, onData: (bytes: Uint8Array) => void): Promise<void> {
  return new Promise((resolve) => {
    if (!pipe) return resolve();
    pipe.on('data', onData);
    pipe.once('end', resolve);
    pipe.once('close', resolve);
    pipe.once('error', () => resolve());
  });
}

/** User and system time of a process, s; null without `/proc` and after its exit. */
function cpuSecondsOf(pid: number): number | null {
  // The program name is in parentheses and may contain parentheses itself.
  const fields = readProc(pid, 'stat').split(')').at(-1)?.trim().split(' ');
  const ticks = Number(fields?.[11]) + Number(fields?.[12]);
  return Number.isFinite(ticks) ? ticks / PROC_TICKS_PER_S : null;
}

/** Resident memory of a process; 0 without `/proc` and after its exit. */
function memoryBytesOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/** A file about a process; empty without `/proc` and after its exit. */
function readProc(pid: number, file: 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
