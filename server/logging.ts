import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from 'pino';
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
];

/** Unwritten lines beyond this many bytes are dropped: a log nobody reads must not fill memory. */
const WAITING_BYTES_MAX = 1 << 20;

// A reader that has stopped reading must not keep a process from ending.
const END_MS = 1_000;

/** Where the log goes. */
export interface LogStream extends DestinationStream {
  /**
   * Waits until everything is written. A process that exits without it loses its last lines, and
   * hangs when nobody reads them.
   */
  end(): Promise<void>;
  /** Gives up what is not written yet. */
  abandon(): void;
}

/** Standard error, written beside the event loop, so that a slow reader of it delays nobody. */
export function standardError(): LogStream {
  const stream = destination({ fd: 2, sync: false, maxLength: WAITING_BYTES_MAX });
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  return {
    write: (line) => void stream.write(line),
    async end() {
      stream.end();
      await Promise.race([closed, Bun.sleep(END_MS)]);
      stream.destroy();
    },
    // The library writes what is left when the process exits, and tries for ever.
    abandon: () => stream.destroy(),
  };
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
