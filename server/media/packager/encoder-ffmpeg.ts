import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ChildInput } from './child-input.ts';
import type {
  Encoder,
  EncoderEvents,
  EncoderExit,
  EncoderOptions,
  StartEncoder,
} from './encoder.ts';
import { EncoderTracks } from './encoder-tracks.ts';
import { encoderArguments, FIRST_TRACK_FD } from './ffmpeg-arguments.ts';
import { LastLines } from './last-lines.ts';
import { withMemoryLimit } from './memory-limit.ts';
import { ProgressReader } from './progress.ts';

const CHECK_INTERVAL_MS = 500;
/** After the end of a process its pipes are empty at once, unless it left a child of its own. */
const PIPE_DRAIN_MS = 2_000;
/**
 * The most memory that an encoder may take: twice what three renditions of 4096 × 2160 do. A source
 * can make ffmpeg take all there is; that must end this encoder and nothing else.
 */
const MEMORY_BYTES_MAX = 4 * 2 ** 30;
/** Of address space: it holds at once, and where there is no `/proc`. */
const ADDRESS_BYTES_MAX = 8 * 2 ** 30;
/** Clock ticks a second in `/proc`: the same on every Linux (USER_HZ). */
const PROC_TICKS_PER_S = 100;

/** Runs ffmpeg. A program that cannot be run is an encoder that exits. */
export const startEncoder: StartEncoder = startEncoderWithMemoryLimit(MEMORY_BYTES_MAX);

/** @param memoryBytes an encoder that takes more is ended */
export function startEncoderWithMemoryLimit(memoryBytes: number): StartEncoder {
  return (plan, events) => new FfmpegEncoder(plan, events, memoryBytes);
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
    plan: EncoderOptions,
    private readonly events: EncoderEvents,
    private readonly memoryBytes: number,
  ) {
    this.tracks = new EncoderTracks(plan, events);
    const pipes = FIRST_TRACK_FD + this.tracks.writtenTracks.length;
    // A group of its own, so that Ctrl-C in a terminal does not end it before what it has is
    // encoded. It ends with its standard input, however this process ends.
    const command = [plan.settings.ffmpeg, ...encoderArguments(plan)];
    this.child = spawn(...withMemoryLimit(ADDRESS_BYTES_MAX, command), {
      stdio: Array.from({ length: pipes }, () => 'pipe' as const),
      detached: true,
    });
    this.input = new ChildInput(this.child.stdin);
    this.timer = setInterval(() => this.check(), CHECK_INTERVAL_MS);
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
    clearInterval(this.timer);
    this.input.close();
    if (this.child.pid !== undefined) await waitAtMost(read, PIPE_DRAIN_MS);
    return { ...exit, lastLines: this.lastLines.list() };
  }

  private readPipes(): Promise<unknown> {
    const { stdout, stderr, stdio } = this.child;
    const pipes = [
      readPipe(stdout, (bytes) => {
        for (const progress of this.progress.push(bytes, monotonicMs()))
          this.events.onProgress(progress);
        // The last report comes shortly before the end, when it is too late to ask.
        this.cpuSeconds();
      }),
      readPipe(stderr, (bytes) => this.lastLines.push(bytes)),
      ...this.tracks.writtenTracks.map((_, index) =>
        readPipe(stdio[FIRST_TRACK_FD + index] as Readable | null, (bytes) =>
          this.killOnError(() => this.tracks.push(index, bytes, monotonicMs())),
        ),
      ),
    ];
    return Promise.all(pipes);
  }

  private check(): void {
    this.cpuSeconds();
    this.killOnError(() => {
      if (memoryBytesOf(this.pid) > this.memoryBytes) throw new Error('it took too much memory');
      this.tracks.checkAudio(monotonicMs());
    });
  }

  /** What cannot be understood ends this encoder, and nothing else. */
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

/** Of a clock that nobody sets. */
function monotonicMs(): number {
  return performance.now();
}

/** Fulfilled when a pipe is at its end, whatever the reason. */
function readPipe(pipe: Readable | null, onData: (bytes: Uint8Array) => void): Promise<void> {
  return new Promise((resolve) => {
    if (!pipe) return resolve();
    pipe.on('data', onData);
    pipe.once('end', resolve);
    pipe.once('close', resolve);
    pipe.once('error', () => resolve());
  });
}

async function waitAtMost(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: Timer | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}

/** User and system time of a process; null without `/proc`, and after its end. */
function cpuSecondsOf(pid: number): number | null {
  try {
    // The name of the program is in parentheses and may have any characters, also those.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(')').at(-1)?.trim().split(' ');
    const ticks = Number(fields?.[11]) + Number(fields?.[12]);
    return Number.isFinite(ticks) ? ticks / PROC_TICKS_PER_S : null;
  } catch {
    return null;
  }
}

/** Memory of a process; 0 without `/proc`, and after its end. */
function memoryBytesOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
