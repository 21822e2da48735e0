import type { EventsInterval } from '../protocol/feed.ts';

/** What the page hears. */
export interface FeedEvents {
  onInterval(interval: EventsInterval): void;
  /** @param offsetMs service time less this machine's */
  onClock(offsetMs: number): void;
}

const HEARTBEAT_MS = 1_000;
const AGAIN_MS = 2_000;
const IDENTIFIER = 'fourbeat-viewer';
// A token lives for 10 minutes.
const TOKEN_MS = 480_000;

/** Follows a stream's feed as one viewer, and says each second that the viewer is here. */
export async function followFeed(streamId: string, events: FeedEvents): Promise<never> {
  for (;;) {
    try {
      const offsetMs = await clockOffsetMs();
      events.onClock(offsetMs);
      const token = await newToken(streamId);
      await oneConnection(streamId, token, offsetMs, events);
    } catch {
      // The service is away, or the connection was lost: again in a moment.
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function oneConnection(
  streamId: string,
  token: string,
  offsetMs: number,
  { onInterval }: FeedEvents,
): Promise<void> {
  const ending = new AbortController();
  const headers = { Authorization: `Bearer ${token}` };
  const beat = setInterval(() => {
    const init = { method: 'POST', headers, signal: ending.signal };
    fetch(`/api/v1/view-counts/${streamId}`, init).catch(() => {});
  }, HEARTBEAT_MS);
  const old = setTimeout(() => ending.abort(), TOKEN_MS);
  try {
    const interval = Math.floor((Date.now() + offsetMs) / 250) - 4;
    const response = await fetch(`/api/v1/events-streams/${streamId}?interval=${interval}`, {
      headers: { ...headers, Accept: 'text/event-stream' },
      signal: ending.signal,
    });
    if (!response.ok || !response.body) throw new Error(`the feed answers ${response.status}`);
    let rest = '';
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + read.value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data:')) onInterval(JSON.parse(line.slice(5)) as EventsInterval);
      }
    }
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

async function newToken(streamId: string): Promise<string> {
  const response = await fetch('/api/v1/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier() }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

function identifier(): string {
  const known = localStorage.getItem(IDENTIFIER);
  if (known !== null) return known;
  // Not `randomUUID`, which pages without TLS do not have.
  const made = Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
  localStorage.setItem(IDENTIFIER, made);
  return made;
}
