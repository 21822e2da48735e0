/** Fields that people fill in, as pages call them. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  title: 'The title',
  hls_url: 'The address of the HLS playlist',
  dash_url: 'The address of the DASH manifest',
  name: 'The name',
  email: 'The e-mail',
  currentPassword: 'What is filled in as present password',
  password: 'The new password',
  url: 'The address',
};

/** Why a call to the service failed, in words for people. */
export class StudioProblem extends Error {
  override readonly name = 'StudioProblem';

  /**
   * @param status of HTTP; null: no answer came
   * @param detail what to change, as the service says it
   * @param retryAfterMs when the service wants to be asked again; null: it did not say
   * @param errors all that is wrong with a file, one thing each
   */
  constructor(
    readonly status: number | null,
    readonly detail: string,
    readonly retryAfterMs: number | null = null,
    readonly errors: readonly string[] = [],
  ) {
    super(detail);
  }

  /** The same may work later, without any change. */
  get isPassing(): boolean {
    return this.status === null || this.status === 429 || this.status >= 500;
  }
}

/** What an error response says. */
export async function problemOf(response: Response): Promise<StudioProblem> {
  const body = await response.json().catch(() => null);
  const detail =
    typeof body?.detail === 'string'
      ? inWordsOfPages(body.detail)
      : `The service says ${response.status}.`;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const errors = Array.isArray(body?.errors) ? body.errors.map(String) : [];
  return new StudioProblem(response.status, detail, seconds >= 0 ? seconds * 1_000 : null, errors);
}

/** What is wrong with a field is a sentence about it: `title: must not be blank.` begins with its name. */
function inWordsOfPages(detail: string): string {
  return detail.replace(/^(\w+): /, (all, field) => {
    const words = Object.hasOwn(FIELD_WORDS, field) ? FIELD_WORDS[field] : undefined;
    return words === undefined ? all : `${words} `;
  });
}
