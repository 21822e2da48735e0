import type { EventsInterval } from '../protocol/feed.ts';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../protocol/interval.ts';
import type { HttpAnswer } from './connections.ts';
import type { Place } from './ledger/ledger.ts';
import type { ServiceTime } from './ledger/service-time.ts';

/** A viewer, as far as its reading goes. */
export interface Reader {
  readonly time: ServiceTime;
  readonly localMs: () => number;
  readonly random: () => number;
  readonly isHere: () => boolean;
  /** Asks for an interval; null when there was trouble, after a pause. */
  get(interval: number): Promise<HttpAnswer | null>;
  /** Opens an event stream; null when there was trouble, after a pause. */
  open(from: number, lastEventId: number | null, signal: AbortSignal): Promise<Response | null>;
  /** An interval was read. @param isLive as soon as it was over, so that its lateness tells */
  read(place: Place, interval: number, bytes: Uint8Array, isLive: boolean): EventsInterval;
  /** Called when the viewer goes. */
  onLeave(leave: () => void): void;
}

const RESUME_MS = 250;

/** Asks for the interval that runs, which the service holds until it is over; then for the next. */
export async function readHeld(reader: Reader): Promise<void> {
  const place: Place = { next: null, optionalTo: -1 };
  let interval = currentOf(reader);
  while (reader.isHere()) {
    const answer = await reader.get(interval);
    if (!answer || !reader.isHere()) continue;
    reader.read(place, interval, answer.body, true);
    interval++;
  }
}

/** Asks for each interval some time after it is over, at a pace of its own. */
export async function readSealed(reader: Reader): Promise<void> {
  const place: Place = { next: null, optionalTo: -1 };
  const behindMs = INTERVAL_MS * (1 + 4 * reader.random());
  let interval = currentOf(reader) - 4;
  while (reader.isHere()) {
    const askMs = reader.time.localMs(intervalStartMs(interval + 1)) + behindMs;
    await Bun.sleep(Math.max(0, askMs - reader.localMs()));
    const answer = reader.isHere() ? await reader.get(interval) : null;
    if (!answer || !reader.isHere()) continue;
    reader.read(place, interval, answer.body, false);
    interval++;
  }
}

/** Reads an event stream, and resumes it when it ends. */
export async function readEventStream(reader: Reader): Promise<void> {
  const place = { next: null as number | null, optionalTo: -1 };
  while (reader.isHere()) {
    const abort = new AbortController();
    reader.onLeave(() => abort.abort());
    const from = place.next ?? currentOf(reader) + 1;
    try {
      const last = place.next === null ? null : place.next - 1;
      const response = await reader.open(from, last, abort.signal);
      if (!response?.body) continue;
      // F-23: what was sealed when the request came may be left out where it is empty.
      place.optionalTo = intervalAt(reader.time.latestMs(reader.localMs()));
      for await (const { interval, data } of messagesOf(response.body)) {
        if (!reader.isHere()) break;
        reader.read(place, interval, data, true);
      }
    } catch {
      // It broke, or the viewer left. What was not read yet is read with the next one.
      if (reader.isHere()) await Bun.sleep(RESUME_MS);
    }
  }
}

function currentOf({ time, localMs }: Reader): number {
  return intervalAt(time.likelyMs(localMs()));
}

const BLANK_LINE = Buffer.from('\n\n');

/** The messages of an event stream (F-22), with the very bytes of their data. */
export async function* messagesOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ interval: number; data: Uint8Array }> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(BLANK_LINE); end >= 0; end = rest.indexOf(BLANK_LINE)) {
      const message = messageOf(rest.subarray(0, end));
      rest = rest.subarray(end + BLANK_LINE.length);
      if (message) yield message;
    }
  }
}

function messageOf(block: Buffer): { interval: number; data: Uint8Array } | null {
  let interval: number | null = null;
  let data: Buffer | null = null;
  for (let start = 0; start < block.length; ) {
    const newline = block.indexOf(0x0a, start);
    const end = newline < 0 ? block.length : newline;
    const colon = block.indexOf(0x3a, start);
    const name = block.toString('latin1', start, colon);
    const value = block.subarray(block[colon + 1] === 0x20 ? colon + 2 : colon + 1, end);
    if (name === 'id') interval = Number(value.toString('latin1'));
    if (name === 'data') data = value;
    start = end + 1;
  }
  return interval === null || data === null ? null : { interval, data };
}
