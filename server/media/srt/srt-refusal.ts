import { RateLimited } from '../../platform/errors.ts';
import { type RefusalReason, SourceRefused } from '../source.ts';

/**
 * Rejection codes of libsrt: from 1000 on HTTP statuses plus 1000 (`access_control.h`), below that
 * its own.
 */
export const REJECTIONS = {
  version: 8,
  /** The caller's encryption does not match. */
  encryption: 11,
  badRequest: 1_400,
  unauthorized: 1_401,
  overload: 1_402,
  badMode: 1_405,
  conflict: 1_409,
  gone: 1_410,
  broken: 1_500,
  down: 1_503,
} as const;

const CODE_OF: Readonly<Record<RefusalReason, number>> = {
  'unknown-key': REJECTIONS.unauthorized,
  busy: REJECTIONS.conflict,
  ended: REJECTIONS.gone,
  'too-many': REJECTIONS.down,
  unavailable: REJECTIONS.down,
};

/** The caller is rejected; the message is for the log. */
export class CallerRefused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Converts an error to a rejection; null for an unexpected error. */
export function refusalOf(error: unknown): CallerRefused | null {
  if (error instanceof CallerRefused) return error;
  if (error instanceof SourceRefused)
    return new CallerRefused(CODE_OF[error.reason], error.message);
  if (error instanceof RateLimited) return new CallerRefused(REJECTIONS.overload, error.message);
  return null;
}
