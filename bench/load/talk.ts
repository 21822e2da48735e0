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
  let timer = setTimeout(next, untilNext());

  function untilNext(): number {
    return intervalStartMs(ended + 1) + offsetMs - Date.now();
  }

  function next(): void {
    const interval = String(ended);
    ended += 1;
    timer = setTimeout(next, untilNext());
    for (const { url, headers, body } of requests) {
      const sent = fetch(url, {
        method: 'POST',
        headers,
        body: body.replace('INTERVAL', interval),
      });
      void sent.then((response) => response.arrayBuffer());
    }
  }

  return { stop: () => clearTimeout(timer) };
}
