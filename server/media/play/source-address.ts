import { runtime } from '../../platform/runtime.ts';
/** Where to send a stream's media. */
export interface SourceAddress {
  readonly key: string;
  readonly url: string;
  readonly title: string;
}

export interface AddressRequest {
  /** Such as `http://localhost:4250`, without a trailing slash. */
  readonly origin: string;
  /** The producer's API token. */
  readonly token: string;
  readonly streamId: string;
}

/** The address is not available; the message tells the user what to do. */
export class SourceAddressError extends Error {
  constructor(
    message: string,
    /** Whether a later attempt may succeed. */
    readonly isTransient: boolean,
  ) {
    super(message);
  }
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Gets the address from the studio API (SPEC M-1).
 * @throws SourceAddressError
 */
export async function fetchSourceAddress(options: AddressRequest): Promise<SourceAddress> {
  const stream = await getJson<{ title: string; status: string }>(options, '');
  if (stream.status === 'ENDED') {
    throw new SourceAddressError(
      'the stream has ended; reopen it in the studio, or create a new one',
      false,
    );
  }
  const { key, websocket } = await getJson<{ key: string; websocket: { url: string } }>(
    options,
    '/ingest',
  );
  return { key, url: websocket.url, title: stream.title };
}

/**
 * Starts the stream; nothing changes when it is started.
 * @throws SourceAddressError
 */
export async function startStream(options: AddressRequest): Promise<void> {
  await requestJson(options, 'POST', '/start');
}

const getJson = <T>(options: AddressRequest, path: string) => requestJson<T>(options, 'GET', path);

async function requestJson<T>(
  { origin, token, streamId }: AddressRequest,
  method: 'GET' | 'POST',
  path: string,
): Promise<T> {
  const response = await fetch(`${origin}/studio/v1/streams/${streamId}${path}`, {
    method,
    headers: { Authorization: `Token ${token}` },
    signal: runtime.timeoutSignal(REQUEST_TIMEOUT_MS),
  }).catch(() => null);
  if (!response) throw new SourceAddressError(`no response from ${origin}; is it running?`, true);
  if (response.ok) return (await response.json()) as T;
  throw await errorOf(response, streamId);
}

async function errorOf(response: Response, streamId: string): Promise<SourceAddressError> {
  if (response.status === 401) {
    const hint = 'pass one of the producer with --token or FOURBEAT_TOKEN';
    return new SourceAddressError(`the token was rejected; ${hint}`, false);
  }
  if (response.status === 404) {
    return new SourceAddressError(`this producer has no stream ${streamId}; check --stream`, false);
  }
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  const message = problem?.detail ?? `the service returned status ${response.status}`;
  return new SourceAddressError(message, response.status >= 429);
}
