/** Why a domain rule rejects a request. The HTTP layer maps each kind to its status. */
export type DomainErrorKind = 'invalid' | 'unauthorized' | 'not-found' | 'conflict';

/** A domain rule rejected the request. Nothing was changed; `message` says what to correct. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  constructor(
    readonly kind: DomainErrorKind,
    detail: string,
    /** Further members of the error body, beside those that every error has. */
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }
}

/**
 * The database or the realtime backend does not answer now. Whether the call took effect is unknown;
 * it can be retried.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  constructor(
    detail: string,
    readonly retryAfterS = 1,
  ) {
    super(detail);
  }
}

/** What an operation reads changed all the time. Unlike other `Unavailable`, it says nothing of a backend. */
export class ChangedMeanwhile extends Unavailable {}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The caller exceeded a rate limit. Nothing was changed. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
  constructor(
    detail: string,
    readonly retryAfterS: number,
  ) {
    super(detail);
  }
}
