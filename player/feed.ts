import type { EventsInterval } from '../protocol/feed.ts';
import type { Viewer } from './viewer.ts';

/** What the page hears. */
export interface FeedEvents {
  onInterval(interval: EventsInterval): void;
  /** @param offsetMs service time less this machine's */
  onClock(offsetMs: number): void;
}

const INTERVAL_MS = 250;
const HEARTBEAT_MS = 1_000;
const AGAIN_MS = 2_000;
// Players are that far behind at least.
const BEHIND = 4;

/** Follows a live stream's feed, and says each second that the viewer is here. */
export async function followFeed(viewer: Viewer, events: FeedEvents): Promise<never> {
  const place = { next: 0 };
  for (;;) {
    try {
      const offsetMs = await clockOffsetMs();
      events.onClock(offsetMs);
      place.next ||= Math.floor((Date.now() + offsetMs) / INTERVAL_MS) - BEHIND;
      await oneConnection(viewer, place, events);
      // Its token was old: at once, so that the viewer is not missed.
      continue;
    } catch {
      // The service is away, or the connection was lost: again in a moment.
      viewer.forget();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Fulfilled when its token is old. @throws when it is lost */
async function oneConnection(
  viewer: Viewer,
  place: { next: number },
  { onInterval }: FeedEvents,
): Promise<void> {
  const ending = new AbortController();
  const headers = await viewer.headers();
  const { signal } = ending;
  const beat = setInterval(() => {
    const url = `/api/v1/view-counts/${viewer.streamId}`;
    fetch(url, { method: 'POST', headers, signal }).catch(() => {});
  }, HEARTBEAT_MS);
  const old = setTimeout(() => ending.abort('old'), viewer.restMs);
  try {
    const response = await fetch(viewer.feedUrl(place.next), {
      headers: { ...headers, Accept: 'text/event-stream' },
      signal,
    });
    if (!response.ok || !response.body) throw new Error(`the feed answers ${response.status}`);
    let rest = '';
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + read.value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data:')) continue;
        const interval = JSON.parse(line.slice(5)) as EventsInterval;
        place.next = interval.interval + 1;
        onInterval(interval);
      }
    }
    throw new Error('the feed was closed');
  } catch (error) {
    if (signal.reason !== 'old') throw error;
  } finally {
    clearInterval(beat);
    clearTimeout(old);
    ending.abort();
  }
}

/** By the one of a few samples that was the quickest. */
async function clockOffsetMs(): Promise<number> {
  let best = { roundTripMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  for (let sample = 0; sample < 3; sample++) {
    const sentMs = performance.now();
    const { now } = (await (await fetch('/api/v1/time')).json()) as { now: number };
    const roundTripMs = performance.now() - sentMs;
    const offsetMs = now + roundTripMs / 2 - Date.now();
    if (roundTripMs < best.roundTripMs) best = { roundTripMs, offsetMs };
  }
  return best.offsetMs;
}
