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

/** Standard error, written beside the event loop; what waits is written before the process ends. */
export function standardError(): DestinationStream {
  const stream = destination({ fd: 2, sync: false, maxLength: WAITING_BYTES_MAX });
  process.on('exit', () => stream.flushSync());
  return stream;
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
