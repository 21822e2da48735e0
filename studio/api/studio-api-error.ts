import { texts } from './texts.ts';

/** A failed call of the studio API, with a message for the user. */
export class StudioApiError extends Error {
  override readonly name = 'StudioApiError';

  /**
   * @param status HTTP status; null: no response arrived
   * @param detail message of the service
   * @param errors all errors of an import; else empty
   * @param field the field of the request that is wrong, by its name in the API; null: none or unknown
   */
  constructor(
    readonly status: number | null,
    readonly detail: string,
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

/** @param body the parsed body of the error response; null: none, or no JSON */
export function apiErrorOf(status: number, body: unknown): StudioApiError {
  const { detail: message, errors } = (body ?? {}) as { detail?: unknown; errors?: unknown };
  const [detail, field] =
    typeof message === 'string' ? parseDetail(message) : [texts.unexpectedStatus(status), null];
  return new StudioApiError(status, detail, Array.isArray(errors) ? errors.map(String) : [], field);
}

/** The field that `title: must not be blank.` names, and the text with its label. */
function parseDetail(detail: string): readonly [detail: string, field: string | null] {
  const [prefix = '', field = ''] = /^(\w+): /.exec(detail) ?? [];
  const label = Object.hasOwn(texts.fields, field) ? texts.fields[field] : undefined;
  if (label === undefined) return [detail, null];
  return [texts.fieldError(label, detail.slice(prefix.length)), field];
}
