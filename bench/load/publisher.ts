import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';

/** What the load publishes to a server in each interval. */
export type Publisher =
  /** Nothing. */
  | null
  /** These requests, `OFFSET_MS` after the start of each interval. */
  | { readonly when: 'within'; readonly requests: readonly PublishRequest[] }
  /** These requests, at the end of each interval; `INTERVAL` in a body stands for its number. */
  | { readonly when: 'after'; readonly requests: readonly PublishRequest[] };

interface PublishRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Time from the start of an interval to its requests. */
const OFFSET_MS = 60;

/** Publishes in each interval until the process exits. */
export function startPublishing(publisher: Publisher): void {
  if (!publisher) return;
  const { when, requests } = publisher;
  const offsetMs = when === 'within' ? OFFSET_MS : 0;
  let previous = intervalAt(Date.now() - offsetMs);
  let sending = Promise.resolve();
  setTimeout(next, delayMs());

  function delayMs(): number {
    return Math.max(0, intervalStartMs(previous + 1) + offsetMs - Date.now());
  }

  function next(): void {
    const interval = String(previous);
    previous += 1;
    setTimeout(next, delayMs());
    // Sequentially, so that messages keep their order.
    for (const request of requests) sending = sending.then(() => send(request, interval));
  }
}

async function send({ url, headers, body }: PublishRequest, interval: string): Promise<void> {
  const text = body.replace('INTERVAL', interval);
  const response = await fetch(url, { method: 'POST', headers, body: text });
  await response.arrayBuffer();
  // A failed request must not pass for a cheap interval without messages.
  if (!response.ok) throw new Error(`${url} responded ${response.status} to a published message`);
}
