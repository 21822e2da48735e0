import type { Subprocess } from 'bun';
import { LastLines } from '../packager/last-lines.ts';

/** Options of ffmpeg for a receiver that writes what one caller sends to stdout, unchanged. */
export function receiverArguments(port: number): string[] {
  const url = `srt://127.0.0.1:${port}?mode=listener&listen_timeout=${LISTEN_TIMEOUT_US}`;
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'warning'],
    // Bytes are bytes: nothing is looked into, so nothing waits.
    ...['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer'],
    ...['-f', 'data', '-i', url],
    ...['-map', '0', '-c', 'copy', '-flush_packets', '1', '-f', 'data', 'pipe:1'],
  ];
}

// A receiver whose service has died ends by itself; ours is stopped long before.
const LISTEN_TIMEOUT_US = 15_000_000;

export interface ReceiverEvents {
  /** @returns when it wants more, where it does not want more now */
  onBytes(bytes: Uint8Array): Promise<void> | undefined;
  /** Once. @param lines the last that it said */
  onEnd(lines: readonly string[]): void;
}

/** An ffmpeg whose libsrt receives from one caller at a port of this machine alone. */
export class Receiver {
  private readonly process: Subprocess<'ignore', 'pipe', 'pipe'>;

  /** @throws Error when there is no such program */
  constructor(ffmpeg: string, port: number, events: ReceiverEvents) {
    this.process = Bun.spawn([ffmpeg, ...receiverArguments(port)], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const { stdout, stderr } = this.process;
    const said = lastLines(stderr);
    void passOn(stdout, events)
      .then(() => said)
      .then((lines) => events.onEnd(lines));
  }

  /** Ends it at once; it keeps nothing that would be lost. */
  stop(): void {
    this.process.kill('SIGKILL');
  }
}

async function passOn(stdout: ReadableStream<Uint8Array>, events: ReceiverEvents): Promise<void> {
  try {
    for await (const bytes of stdout) await events.onBytes(bytes);
  } catch {
    // The pipe broke with the process.
  }
}

async function lastLines(stderr: ReadableStream<Uint8Array>): Promise<string[]> {
  const lines = new LastLines();
  try {
    for await (const bytes of stderr) lines.push(bytes);
  } catch {
    // As above.
  }
  return lines.list();
}
