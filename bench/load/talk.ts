import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';

/** What is sent to a server once in each interval. */
export type Talk =
  /** Nothing. */
  | null
  /** These, early in it. */
  | { readonly when: 'within'; readonly requests: readonly Sent[] }
  /** The message itself, when the interval is over; `INTERVAL` in its body is the number. */
  | { readonly when: 'after'; readonly requests: readonly Sent[] };

export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How far into an interval its lines are sent. */
const WITHIN_MS = 60;

/** Sends it from now on. */
export function talking(talk: Talk): { stop(): void } {
  if (!talk) return { stop: () => {} };
  const { when, requests } = talk;
  const offsetMs = when === 'within' ? WITHIN_MS : 0;
  let ended = intervalAt(Date.now() - offsetMs);
  let sending = Promise.resolve();
  let timer = setTimeout(next, untilNext());

  function untilNext(): number {
    return Math.max(0, intervalStartMs(ended + 1) + offsetMs - Date.now());
  }

  function next(): void {
    const interval = String(ended);
    ended += 1;
    timer = setTimeout(next, untilNext());
    // One after the other, or the next message could be there before this one.
    for (const request of requests) sending = sending.then(() => send(request, interval));
  }

  return { stop: () => clearTimeout(timer) };
}

async function send({ url, headers, body }: Sent, interval: string): Promise<void> {
  const text = body.replace('INTERVAL', interval);
  const response = await fetch(url, { method: 'POST', headers, body: text });
  await response.arrayBuffer();
  // Else all would hear of nothing, and that is cheap.
  if (!response.ok)
    throw new Error(`${url} said ${response.status} to what viewers are to be told`);
}
