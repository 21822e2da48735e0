/** Why a rule says no; the HTTP layer turns each into its status. */
export type RefusalKind = 'invalid' | 'unauthorized' | 'not-found' | 'conflict';

/** A rule said no: nothing was changed, and `message` says what to change. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly kind: RefusalKind,
    detail: string,
    /** Members of the error besides those that all have. */
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }
}

/** The database or the realtime backend cannot answer now; nothing is known to have been changed. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  constructor(
    detail: string,
    readonly retryAfterS = 1,
  ) {
    super(detail);
  }
}
