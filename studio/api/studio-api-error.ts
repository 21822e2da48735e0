import { texts } from './texts.ts';

/** A failed call of the studio API, with a message for the user. */
export class StudioApiError extends Error {
  override readonly name = 'StudioApiError';

  /**
   * @param status HTTP status; null: no response arrived
   * @param detail message of the service
   * @param retryAfterMs from `Retry-After`; null: not given
   * @param errors all errors in an imported file
   * @param field the field of the request that is wrong, by its name in the API; null: none or unknown
   */
  constructor(
    readonly status: number | null,
    readonly detail: string,
    readonly retryAfterMs: number | null = null,
    readonly errors: readonly string[] = [],
    readonly field: string | null = null,
  ) {
    super(detail);
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === null || this.status === 429 || this.status >= 500;
  }
}

export async function apiErrorOf(response: Response): Promise<StudioApiError> {
  const body = await response.json().catch(() => null);
  const [detail, field] =
    typeof body?.detail === 'string'
      ? withFieldLabel(body.detail)
      : [texts.unexpectedStatus(response.status), null];
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const errors = Array.isArray(body?.errors) ? body.errors.map(String) : [];
  const retryAfterMs = seconds >= 0 ? seconds * 1_000 : null;
  return new StudioApiError(response.status, detail, retryAfterMs, errors, field);
}

/** Replaces the field name at the start of `title: must not be blank.` by its label. */
function withFieldLabel(detail: string): readonly [detail: string, field: string | null] {
  const [prefix = '', field = ''] = /^(\w+): /.exec(detail) ?? [];
  const label = Object.hasOwn(texts.fields, field) ? texts.fields[field] : undefined;
  if (label === undefined) return [detail, null];
  return [texts.fieldError(label, detail.slice(prefix.length)), field];
}
