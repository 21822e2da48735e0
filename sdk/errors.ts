import { SLOW_MODE_MAX_MS } from '../protocol/limits.ts';

/**
 * Reason of an error.
 *
 * - `denied`: the service accepts neither this viewer's token nor a new one (401).
 * - `unknown`: the stream or quiz does not exist (404).
 * - `refused`: the service rejects the request, and always will (400, 409, 413, 415).
 * - `busy`: too many requests (429), or a new token is delayed; retry after `retryAfterMs`.
 * - `unavailable`: the service cannot be reached, does not respond in 5 s, timed out (408), or failed
 *   (5xx).
 * - `left`: the viewer has left.
 */
export type ErrorKind = 'denied' | 'unknown' | 'refused' | 'busy' | 'unavailable' | 'left';

/** The error that all methods of the SDK throw. */
export class FourbeatError extends Error {
  override readonly name = 'FourbeatError';
  declare readonly kind: ErrorKind;
  /** HTTP status; null: no response. */
  declare readonly status: number | null;
  /** The service's `Retry-After`, ms, at most 5 min; null: none. */
  declare readonly retryAfterMs: number | null;

  constructor(
    kind: ErrorKind,
    message: string,
    status: number | null = null,
    retryAfterMs: number | null = null,
    /** The underlying error. */
    cause?: unknown,
  ) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether a retry may succeed. */
  get isRetryable(): boolean {
    return this.kind === 'busy' || this.kind === 'unavailable';
  }
}

/** @returns the error that a response without a success status stands for */
export async function errorFromResponse(response: Response): Promise<FourbeatError> {
  const { status } = response;
  const seconds = Number(response.headers.get('retry-after') || NaN);
  // The service asks for no more; a proxy's hour or day would end the show for its viewers.
  const retryAfterMs = seconds >= 0 ? Math.min(seconds * 1_000, SLOW_MODE_MAX_MS) : null;
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  const detail = problem?.detail ?? `HTTP ${status}`;
  return new FourbeatError(kindOf(status), detail, status, retryAfterMs);
}

/**
 * @param message for values that are not a `FourbeatError`
 * @returns the thrown `FourbeatError`; for any other value an `unavailable` error with it as the cause
 */
export function toFourbeatError(thrown: unknown, message = 'Service unavailable.'): FourbeatError {
  // Each entry of the package may contain its own copy of the class, so compare the name.
  const error = thrown as FourbeatError | null | undefined;
  if (error?.name === 'FourbeatError') return error;
  return new FourbeatError('unavailable', message, null, null, thrown);
}

/** @throws FourbeatError `unavailable` for a response that is not the service's, as from a proxy */
export function requireFourbeat(isExpected: unknown): void {
  if (!isExpected) throw new FourbeatError('unavailable', 'No Fourbeat.');
}

function kindOf(status: number): ErrorKind {
  if (status === 401) return 'denied';
  if (status === 404) return 'unknown';
  if (status === 429) return 'busy';
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unavailable';
}
