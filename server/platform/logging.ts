import { write as writeToFile } from 'node:fs';
import { promisify } from 'node:util';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { Config } from './config.ts';
import { runtime } from './runtime.ts';

// O-14: members that are redacted. No call logs them on purpose. The list protects against a call that
// logs a whole request, body or error.
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

/** Lines beyond this many unwritten bytes are dropped: a blocked log must not fill the memory. */
const PENDING_BYTES_MAX = 1 << 20;

/** Maximum wait for the last lines: a blocked reader must not keep the process from ending. */
const FLUSH_TIMEOUT_MS = 1_000;

/** Wait before the next write to a full pipe. */
const RETRY_MS = 100;

const NEWLINE = 10;

export interface LogStream extends DestinationStream {
  /** Waits until all lines are written, 1 s at most. Call it before the process exits. */
  end(): Promise<void>;
  /** Drops the lines that are not written yet. */
  abandon(): void;
}

/** Standard error, written asynchronously, so that a slow reader does not block the event loop. */
export function standardError(): LogStream {
  const write = promisify(writeToFile);
  return createLogStream(async (bytes) => (await write(2, bytes)).bytesWritten);
}

/**
 * A log stream that never fails its writer. Lines that cannot be written (disk full, blocked pipe) are
 * dropped and counted; before the next line that can be written, a warning gives their number.
 * @param writeSome writes some of the bytes and returns how many; it fails as `fs.write` does
 */
export function createLogStream(writeSome: (bytes: Uint8Array) => Promise<number>): LogStream {
  let pending: string[] = [];
  let pendingBytes = 0;
  let dropped = 0;
  /** Whether the last write ended in the middle of a line. */
  let isLinePartial = false;
  let isAbandoned = false;
  let writing: Promise<void> | null = null;

  /** Returns the number of bytes that could be written. */
  async function writeAll(bytes: Uint8Array): Promise<number> {
    let written = 0;
    while (written < bytes.length && !isAbandoned) {
      try {
        written += await writeSome(bytes.subarray(written));
      } catch (error) {
        if ((error as { code?: string }).code !== 'EAGAIN') break;
        await runtime.sleep(RETRY_MS);
      }
    }
    return written;
  }

  async function writeLines(lines: readonly string[]): Promise<void> {
    const reportedDrops = dropped;
    const text = (reportedDrops > 0 ? formatDropWarning(reportedDrops) : '') + lines.join('');
    const bytes = Buffer.from((isLinePartial ? '\n' : '') + text);
    const written = bytes.subarray(0, await writeAll(bytes));
    let lineCount = written.filter((byte) => byte === NEWLINE).length;
    if (isLinePartial && lineCount > 0) lineCount--;
    if (reportedDrops > 0 && lineCount > 0) {
      dropped -= reportedDrops;
      lineCount--;
    }
    dropped += lines.length - lineCount;
    if (written.length > 0) isLinePartial = written.at(-1) !== NEWLINE;
  }

  async function writePending(): Promise<void> {
    while (pending.length > 0 && !isAbandoned) {
      const lines = pending;
      const bytes = pendingBytes;
      pending = [];
      await writeLines(lines);
      pendingBytes -= bytes;
    }
    writing = null;
  }

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (pendingBytes + bytes > PENDING_BYTES_MAX) {
        dropped++;
        return;
      }
      pending.push(line);
      pendingBytes += bytes;
      writing ??= writePending();
    },
    async end() {
      await Promise.race([writing, runtime.sleep(FLUSH_TIMEOUT_MS)]);
      isAbandoned = true;
    },
    abandon() {
      isAbandoned = true;
    },
  };
}

function formatDropWarning(dropped: number): string {
  const time = new Date(runtime.systemMs()).toISOString();
  const msg = 'log lines were dropped because they could not be written';
  return `${JSON.stringify({ level: 'warn', time, pid: process.pid, dropped, msg })}\n`;
}

/** Creates a logger that writes one JSON object per line (O-13), with secrets redacted. */
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
