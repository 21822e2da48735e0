/** An error response of the service. */
export class MockProblem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    /** Members besides `type`, `title`, `status` and `detail`. */
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }

  /** The response with an RFC 9457 body. */
  response(headers: Readonly<Record<string, string>> = {}): Response {
    const { status, message: detail, members } = this;
    const body = { type: 'about:blank', title: `HTTP ${status}`, status, detail, ...members };
    return json(body, status, headers);
  }
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** Parses a JSON object from a request body. @throws MockProblem 415 or 400 */
export function bodyOf(headers: Headers, body: unknown): Readonly<Record<string, unknown>> {
  if (!headers.get('content-type')?.startsWith('application/json')) {
    throw new MockProblem(415, 'Send the body as application/json.');
  }
  const parsed = parse(String(body));
  if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) {
    return parsed as Record<string, unknown>;
  }
  throw new MockProblem(400, 'The body must be an object.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MockProblem(400, 'The body is not valid JSON.');
  }
}

/** @throws MockProblem 400 unless it is a printable text of 1 to `maxChars` characters */
export function textOf(value: unknown, name: string, maxChars: number): string {
  const isText = typeof value === 'string' && value.trim() !== '' && !/\p{Cc}/u.test(value);
  if (isText && [...value].length <= maxChars) return value;
  throw new MockProblem(400, `${name}: must be a text of 1 to ${maxChars} characters.`);
}

/** @throws MockProblem 400 unless it is an integer from `min` to `max` */
export function integerOf(value: unknown, name: string, min: number, max: number): number {
  if (Number.isInteger(value) && min <= (value as number) && (value as number) <= max) {
    return value as number;
  }
  throw new MockProblem(400, `${name}: must be a whole number from ${min} to ${max}.`);
}
