/** Labels of form fields, by their names in the API. */
const FIELD_LABELS: Readonly<Record<string, string>> = {
  title: 'The title',
  hls_url: 'The HLS playlist URL',
  dash_url: 'The DASH manifest URL',
  name: 'The name',
  email: 'The email',
  currentPassword: 'The current password',
  password: 'The new password',
  url: 'The URL',
};

/** A failed call of the studio API, with a message for the user. */
export class StudioApiError extends Error {
  override readonly name = 'StudioApiError';

  /**
   * @param status HTTP status; null: no response arrived
   * @param detail message of the service
   * @param retryAfterMs from `Retry-After`; null: not given
   * @param errors all errors in an imported file
   */
  constructor(
    readonly status: number | null,
    readonly detail: string,
    readonly retryAfterMs: number | null = null,
    readonly errors: readonly string[] = [],
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
  const detail =
    typeof body?.detail === 'string'
      ? withFieldLabel(body.detail)
      : `The service responded with status ${response.status}.`;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const errors = Array.isArray(body?.errors) ? body.errors.map(String) : [];
  return new StudioApiError(response.status, detail, seconds >= 0 ? seconds * 1_000 : null, errors);
}

/** Replaces the field name at the start of `title: must not be blank.` by its label. */
function withFieldLabel(detail: string): string {
  return detail.replace(/^(\w+): /, (match, field) => {
    const label = Object.hasOwn(FIELD_LABELS, field) ? FIELD_LABELS[field] : undefined;
    return label === undefined ? match : `${label} `;
  });
}
