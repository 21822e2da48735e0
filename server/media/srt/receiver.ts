import type { Subprocess } from 'bun';
import { programEnvironment } from '../../platform/program-environment.ts';
import { LastLines } from '../packager/last-lines.ts';
import { withMemoryLimit } from '../packager/process-limits.ts';

/** ffmpeg arguments of a receiver that copies one caller's bytes to standard output. */
function receiverArguments(port: number): string[] {
  const url = `srt://127.0.0.1:${port}?mode=listener&listen_timeout=${LISTEN_TIMEOUT_US}`;
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'warning'],
    // The input is opaque data: probing it would only add latency.
    ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer'],
    ...['-f', 'data', '-i', url],
    ...['-map', '0', '-c', 'copy', '-flush_packets', '1', '-f', 'data', 'pipe:1'],
  ];
}

// A receiver that gets no caller, because its service has died, exits by itself after this time.
const LISTEN_TIMEOUT_US = 15_000_000;

// It uses 50 MB, and reserves some more for its threads.
const MEMORY_BYTES_MAX = 512 << 20;

export interface ReceiverEvents {
  /** @returns a promise for the end of back-pressure; undefined without any */
  onBytes(bytes: Uint8Array): Promise<void> | undefined;
  /** Called once. @param lines last lines of standard error */
  onEnd(lines: readonly string[]): void;
}

/** An ffmpeg process whose libsrt receives from one caller on a loopback port. */
export class Receiver {
  private readonly process: Subprocess<'ignore', 'pipe', 'pipe'>;

  /** A program that cannot be started ends like one that fails. */
  constructor(ffmpeg: string, port: number, events: ReceiverEvents) {
    const [shell, args] = withMemoryLimit(MEMORY_BYTES_MAX, [ffmpeg, ...receiverArguments(port)]);
    this.process = Bun.spawn([shell, ...args], {
      env: programEnvironment(),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const { stdout, stderr } = this.process;
    const lines = new LastLines();
    const pipes = [
      readPipe(stdout, (bytes) => events.onBytes(bytes)),
      readPipe(stderr, (bytes) => lines.push(bytes)),
    ];
    void Promise.all(pipes).then(() => events.onEnd(lines.list()));
  }

  /** Kills the process; it has no state to save. */
  stop(): void {
    this.process.kill('SIGKILL');
  }
}

async function readPipe(
  pipe: ReadableStream<Uint8Array>,
  onBytes: (bytes: Uint8Array) => Promise<void> | undefined | void,
): Promise<void> {
  try {
    for await (const bytes of pipe) await onBytes(bytes);
  } catch {
    // The pipe closes with the process.
  }
}
