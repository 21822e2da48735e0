import { write as writeToFile } from 'node:fs';
import { promisify } from 'node:util';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';

// O-14. Nothing logs these on purpose; this is the guard for the day when somebody logs a whole
// request, body or error.
const SECRETS = [
  'authorization',
  'token',
  'secret',
  'privateJwk',
  'identifier',
  'unique_user_identifier',
  'sub',
  'viewer',
  'text',
  'password',
  'currentPassword',
  'csrf',
  'cookie',
  'link',
];

/** Unwritten lines beyond this many bytes are dropped: a log nobody reads must not fill memory. */
const WAITING_BYTES_MAX = 1 << 20;

// A reader that has stopped reading must not keep a process from ending.
const END_MS = 1_000;

/** How soon a pipe that was full is tried again. */
const BUSY_MS = 100;

const NEWLINE = 10;

/** Where the log goes. */
export interface LogStream extends DestinationStream {
  /** Waits until everything is written. A process that exits without it loses its last lines. */
  end(): Promise<void>;
  /** Gives up what is not written yet. */
  abandon(): void;
}

/** Standard error, written beside the event loop, so that a slow reader of it delays nobody. */
export function standardError(): LogStream {
  const write = promisify(writeToFile);
  return logStream(async (bytes) => (await write(2, bytes)).bytesWritten);
}

/**
 * A log that never ends its service. Lines that cannot be written (the disk is full, nobody reads)
 * are dropped and counted, and the next line that can be written is preceded by their number.
 * @param writeSome writes some of the bytes and says how many; it fails as `fs.write` does
 */
export function logStream(writeSome: (bytes: Uint8Array) => Promise<number>): LogStream {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  // Whether the last write ended in the middle of a line.
  let isTorn = false;
  let isAbandoned = false;
  let writing: Promise<void> | null = null;

  /** How many of the bytes could be written. */
  async function writeAll(bytes: Uint8Array): Promise<number> {
    let written = 0;
    while (written < bytes.length && !isAbandoned) {
      try {
        written += await writeSome(bytes.subarray(written));
      } catch (error) {
        if ((error as { code?: string }).code !== 'EAGAIN') break;
        await Bun.sleep(BUSY_MS);
      }
    }
    return written;
  }

  async function writeLines(lines: readonly string[]): Promise<void> {
    const told = dropped;
    const text = (told > 0 ? lossLine(told) : '') + lines.join('');
    const bytes = Buffer.from((isTorn ? '\n' : '') + text);
    const written = bytes.subarray(0, await writeAll(bytes));
    let whole = written.filter((byte) => byte === NEWLINE).length;
    if (isTorn && whole > 0) whole--;
    if (told > 0 && whole > 0) {
      dropped -= told;
      whole--;
    }
    dropped += lines.length - whole;
    if (written.length > 0) isTorn = written.at(-1) !== NEWLINE;
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0 && !isAbandoned) {
      const lines = waiting;
      const bytes = waitingBytes;
      waiting = [];
      await writeLines(lines);
      waitingBytes -= bytes;
    }
    writing = null;
  }

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (waitingBytes + bytes > WAITING_BYTES_MAX) {
        dropped++;
        return;
      }
      waiting.push(line);
      waitingBytes += bytes;
      writing ??= writeWaiting();
    },
    async end() {
      await Promise.race([writing, Bun.sleep(END_MS)]);
      isAbandoned = true;
    },
    abandon() {
      isAbandoned = true;
    },
  };
}

function lossLine(dropped: number): string {
  const time = new Date().toISOString();
  const msg = 'lines of the log were lost: they could not be written';
  return `${JSON.stringify({ level: 'warn', time, pid: process.pid, dropped, msg })}\n`;
}

/** A log of one JSON object a line (O-13), without secrets. */
export function createLogger(level: Config['logLevel'], to: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: '[redacted]',
      },
    },
    to,
  );
}
