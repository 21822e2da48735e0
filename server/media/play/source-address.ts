/** Where a stream's video is sent. */
export interface SourceAddress {
  /** The stream key. */
  readonly key: string;
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly title: string;
}

export interface AskOptions {
  /** `http://localhost:4250`, without a slash at its end. */
  readonly origin: string;
  /** The producer's API token. */
  readonly token: string;
  readonly streamId: string;
}

/** The address was not told; the message says what to do. */
export class NoAddress extends Error {
  constructor(
    message: string,
    /** Whether it may be told later. */
    readonly isPassing: boolean,
  ) {
    super(message);
  }
}

const ANSWER_MS = 10_000;

/**
 * Asks the studio API for the address (SPEC M-1).
 * @throws NoAddress
 */
export async function askForAddress(options: AskOptions): Promise<SourceAddress> {
  const stream = await read<{ title: string; status: string }>(options, '');
  if (stream.status === 'ENDED') {
    throw new NoAddress('the stream has ended; make a new one to go live again', false);
  }
  const { key, websocket } = await read<{ key: string; websocket: { url: string } }>(
    options,
    '/ingest',
  );
  return { key, url: websocket.url, title: stream.title };
}

async function read<T>({ origin, token, streamId }: AskOptions, path: string): Promise<T> {
  const response = await fetch(`${origin}/studio/v1/streams/${streamId}${path}`, {
    headers: { Authorization: `Token ${token}` },
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => null);
  if (!response) throw new NoAddress(`there is no answer from ${origin}; is it running?`, true);
  if (response.ok) return (await response.json()) as T;
  throw await refusalOf(response, streamId);
}

async function refusalOf(response: Response, streamId: string): Promise<NoAddress> {
  if (response.status === 401) {
    const hint = 'give one of the producer with --token or FOURBEAT_TOKEN';
    return new NoAddress(`the token was refused; ${hint}`, false);
  }
  if (response.status === 404) {
    return new NoAddress(`this producer has no stream ${streamId}; look at --stream`, false);
  }
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  const said = problem?.detail ?? `the service answered with ${response.status}`;
  return new NoAddress(said, response.status >= 429);
}
