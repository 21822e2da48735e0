import type { Subprocess } from 'bun';
import { LastLines } from '../packager/last-lines.ts';

/** ffmpeg arguments of a receiver that copies one caller's bytes to standard output. */
export function receiverArguments(port: number): string[] {
  const url = `srt://127.0.0.1:${port}?mode=listener&listen_timeout=${LISTEN_TIMEOUT_US}`;
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'warning'],
    // The input is opaque data: probing it would only add latency.
    ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer'],
    ...['-f', 'data', '-i', url],
    ...['-map', '0', '-c', 'copy', '-flush_packets', '1', '-f', 'data', 'pipe:1'],
  ];
}

// A receiver whose service has died exits by itself after this time.
const LISTEN_TIMEOUT_US = 15_000_000;

export interface ReceiverEvents {
  /** @returns a promise for the end of back-pressure; undefined without any */
  onBytes(bytes: Uint8Array): Promise<void> | undefined;
  /** Called once. @param lines last lines of standard error */
  onEnd(lines: readonly string[]): void;
}

/** An ffmpeg process whose libsrt receives from one caller on a loopback port. */
export class Receiver {
  private readonly process: Subprocess<'ignore', 'pipe', 'pipe'>;

  /** @throws Error when the program cannot be started */
  constructor(ffmpeg: string, port: number, events: ReceiverEvents) {
    this.process = Bun.spawn([ffmpeg, ...receiverArguments(port)], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const { stdout, stderr } = this.process;
    const lines = lastLines(stderr);
    void forward(stdout, events)
      .then(() => lines)
      .then((lines) => events.onEnd(lines));
  }

  /** Kills the process; it has no state to save. */
  stop(): void {
    this.process.kill('SIGKILL');
  }
}

async function forward(stdout: ReadableStream<Uint8Array>, events: ReceiverEvents): Promise<void> {
  try {
    for await (const bytes of stdout) await events.onBytes(bytes);
  } catch {
    // The pipe closes with the process.
  }
}

async function lastLines(stderr: ReadableStream<Uint8Array>): Promise<string[]> {
  const lines = new LastLines();
  try {
    for await (const bytes of stderr) lines.push(bytes);
  } catch {
    // The pipe closes with the process.
  }
  return lines.list();
}
