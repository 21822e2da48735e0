/**
 * Why something did not work.
 *
 * - `denied`: the service does not take this viewer's token, nor a new one (401).
 * - `unknown`: there is no such stream or quiz (404).
 * - `refused`: the service says no to what was asked (400, 409, 413, 415), and always will.
 * - `busy`: too much was asked (429); again after `retryAfterMs`.
 * - `away`: the service cannot be reached, does not answer or hear in time (408), or is in
 *   trouble itself (5xx).
 * - `left`: the viewer has left.
 */
export type TroubleKind = 'denied' | 'unknown' | 'refused' | 'busy' | 'away' | 'left';

/** What every call of the SDK throws. */
export class FourbeatError extends Error {
  override readonly name = 'Trouble';
  declare readonly kind: TroubleKind;
  /** HTTP status; null: there was no answer. */
  declare readonly status: number | null;
  /** The service's own wish; null: it has none. */
  declare readonly retryAfterMs: number | null;

  constructor(
    kind: TroubleKind,
    message: string,
    status: number | null = null,
    retryAfterMs: number | null = null,
    /** What else was thrown. */
    cause?: unknown,
  ) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same may work later. */
  get isPassing(): boolean {
    return this.kind === 'busy' || this.kind === 'away';
  }
}

/** A day. Timers run at once when they are set for longer than 24.8 days. */
const WISH_MAX_MS = 86_400_000;

/** @returns what a response says that is no success */
export async function troubleOf(response: Response): Promise<FourbeatError> {
  const { status } = response;
  const seconds = Number(response.headers.get('retry-after') || NaN);
  const retryAfterMs = seconds >= 0 ? Math.min(seconds * 1_000, WISH_MAX_MS) : null;
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  const detail = problem?.detail ?? `HTTP ${status}`;
  return new FourbeatError(kindOf(status), detail, status, retryAfterMs);
}

/**
 * @param message of what is no trouble
 * @returns what was thrown; when it is no trouble, that there was no answer, with that as its cause
 */
export function asTrouble(
  thrown: unknown,
  message = 'the service cannot be reached',
): FourbeatError {
  // Each entry of the package may have this class once more, so that the name has to do.
  const { name } = Object(thrown) as Partial<FourbeatError>;
  if (name === 'Trouble') return thrown as FourbeatError;
  return new FourbeatError('away', message, null, null, thrown);
}

function kindOf(status: number): TroubleKind {
  if (status === 401) return 'denied';
  if (status === 404) return 'unknown';
  if (status === 429) return 'busy';
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'away';
}
