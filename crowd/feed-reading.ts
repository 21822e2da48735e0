import type { EventsInterval } from '../protocol/feed.ts';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../protocol/interval.ts';
import type { HttpResponse } from './connections.ts';
import type { FeedPosition } from './ledger/ledger.ts';
import type { ServiceTime } from './ledger/service-time.ts';

/** The functions of a viewer that the feed readers call. */
export interface FeedReader {
  readonly time: ServiceTime;
  readonly localMs: () => number;
  readonly random: () => number;
  readonly isPresent: () => boolean;
  /** Requests an interval. After a failure it pauses, then returns null: the caller may retry. */
  get(interval: number): Promise<HttpResponse | null>;
  /** Opens an event stream. After a failure it pauses, then returns null: the caller may retry. */
  open(from: number, lastEventId: number | null, signal: AbortSignal): Promise<Response | null>;
  /** Takes an interval. @param isLive whether it was sent when it was sealed: its delay is recorded */
  onInterval(
    position: FeedPosition,
    interval: number,
    bytes: Uint8Array,
    isLive: boolean,
  ): EventsInterval;
  /** Registers a callback for when the viewer leaves. */
  onLeave(leave: () => void): void;
}

const RESUME_PAUSE_MS = 250;

/** Reads the current interval by a long poll, then each next one. */
export async function readByLongPoll(reader: FeedReader): Promise<void> {
  const position: FeedPosition = { next: null, optionalTo: -1 };
  let interval = currentInterval(reader);
  while (reader.isPresent()) {
    const response = await reader.get(interval);
    if (!response || !reader.isPresent()) continue;
    reader.onInterval(position, interval, response.body, true);
    interval++;
  }
}

/** Requests each interval 250 to 1,250 ms after its end. */
export async function readSealed(reader: FeedReader): Promise<void> {
  const position: FeedPosition = { next: null, optionalTo: -1 };
  const delayMs = INTERVAL_MS * (1 + 4 * reader.random());
  let interval = currentInterval(reader) - 4;
  while (reader.isPresent()) {
    const requestMs = reader.time.localMs(intervalStartMs(interval + 1)) + delayMs;
    await Bun.sleep(Math.max(0, requestMs - reader.localMs()));
    const response = reader.isPresent() ? await reader.get(interval) : null;
    if (!response || !reader.isPresent()) continue;
    reader.onInterval(position, interval, response.body, false);
    interval++;
  }
}

/** Reads an event stream and resumes it when it ends. */
export async function readEventStream(reader: FeedReader): Promise<void> {
  const position = { next: null as number | null, optionalTo: -1 };
  while (reader.isPresent()) {
    const abort = new AbortController();
    reader.onLeave(() => abort.abort());
    const from = position.next ?? currentInterval(reader) + 1;
    try {
      const lastEventId = position.next === null ? null : position.next - 1;
      const response = await reader.open(from, lastEventId, abort.signal);
      if (!response?.body) continue;
      // F-23: the stream may omit empty intervals that were sealed before the request.
      position.optionalTo = intervalAt(reader.time.latestMs(reader.localMs()));
      for await (const { interval, data } of parseEventStream(response.body)) {
        if (!reader.isPresent()) break;
        reader.onInterval(position, interval, data, true);
      }
    } catch {
      // The stream broke or the viewer left. The next stream resumes after the last interval read.
      if (reader.isPresent()) await Bun.sleep(RESUME_PAUSE_MS);
    }
  }
}

function currentInterval({ time, localMs }: FeedReader): number {
  return intervalAt(time.estimateMs(localMs()));
}

const BLANK_LINE = Buffer.from('\n\n');

/** Parses an event stream (F-22) into messages with the exact bytes of their data. */
export async function* parseEventStream(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ interval: number; data: Uint8Array }> {
  let unparsed = Buffer.alloc(0);
  for await (const chunk of chunks) {
    unparsed = unparsed.length === 0 ? Buffer.from(chunk) : Buffer.concat([unparsed, chunk]);
    for (let end = unparsed.indexOf(BLANK_LINE); end >= 0; end = unparsed.indexOf(BLANK_LINE)) {
      const message = parseMessage(unparsed.subarray(0, end));
      unparsed = unparsed.subarray(end + BLANK_LINE.length);
      if (message) yield message;
    }
  }
}

function parseMessage(block: Buffer): { interval: number; data: Uint8Array } | null {
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
