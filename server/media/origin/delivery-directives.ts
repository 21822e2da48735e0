import { Problem } from '../../http/problem.ts';
import { epochName, type Presentation } from '../segment.ts';

/** The delivery directives of a media playlist request (RFC 8216bis, 6.2.5). */
export interface DeliveryDirectives {
  /** Block until the playlist has this segment; null: do not block. */
  readonly seq: number | null;
  /** Block until the playlist has this part of the segment. */
  readonly part: number | null;
  /** Send a delta update without old segments. */
  readonly skip: boolean;
}

const NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const NO_DIRECTIVES: DeliveryDirectives = { seq: null, part: null, skip: false };

// RFC 8216bis, 6.2.5.2: requests further ahead than this get 400.
const SEGMENTS_AHEAD = 2;
const PARTS_AHEAD_MS = 3_000;
const PARTS_AHEAD_MIN = 3;

/** Parses the directives of a URL. @throws Problem 400 when they are invalid */
export function parseDirectives(url: string): DeliveryDirectives {
  const queryStart = url.indexOf('?');
  if (queryStart === -1 || !url.includes('_HLS_', queryStart)) return NO_DIRECTIVES;
  const query = new URLSearchParams(url.slice(queryStart));
  const seq = parseNumber(query, '_HLS_msn');
  const part = parseNumber(query, '_HLS_part');
  if (part !== null && seq === null) throw new Problem(400, '_HLS_part requires _HLS_msn.');
  const skips = query.getAll('_HLS_skip');
  if (skips.length > 1 || !skips.every((skip) => skip === 'YES' || skip === 'v2')) {
    throw new Problem(400, '_HLS_skip must be YES or v2.');
  }
  return { seq, part, skip: skips.length > 0 };
}

function parseNumber(query: URLSearchParams, name: string): number | null {
  const values = query.getAll(name);
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1 || !NUMBER.test(value)) {
    throw new Problem(400, `${name} must be a single whole number.`);
  }
  return Number(value);
}

/**
 * The directives that a playlist offers; others are ignored. Without low latency it offers no blocking reload
 * (`CAN-BLOCK-RELOAD`), and no player waits: hostile clients could take all 20,000 waiting requests of the node. An
 * ended playlist is always whole, so that it is rendered once.
 */
export function offeredDirectives(
  { isEnded, partMs }: Presentation,
  { seq, part, skip }: DeliveryDirectives,
): DeliveryDirectives {
  const blocking = partMs === null ? { seq: null, part: null } : { seq, part };
  return { ...blocking, skip: skip && !isEnded };
}

/** Whether the playlist has the requested segment or part. */
export function isSatisfied(
  presentation: Presentation,
  { seq, part }: DeliveryDirectives,
): boolean {
  if (seq === null || presentation.isEnded) return true;
  const last = lastSeqOf(presentation);
  if (last > seq) return true;
  if (part === null) return last >= seq;
  if (last === seq) {
    // After the last part of a segment comes the first of the next.
    const isInNextSegment = part >= partCount(presentation, seq);
    return !isInNextSegment || partCount(presentation, seq + 1) > 0;
  }
  return last + 1 === seq && partCount(presentation, seq) > part;
}

/**
 * The directives of a request that blocks, in their one spelling: any part after the last one of a complete
 * segment is the first of the next segment.
 */
export function normalized(
  presentation: Presentation,
  directives: DeliveryDirectives,
): DeliveryDirectives {
  const { seq, part } = directives;
  if (seq === null || part === null || seq > lastSeqOf(presentation)) return directives;
  return { ...directives, seq: seq + 1, part: 0 };
}

/** @throws Problem 400 when the requested segment or part is too far ahead to block for */
export function checkNotTooFarAhead(
  presentation: Presentation,
  { seq, part }: DeliveryDirectives,
): void {
  if (seq === null || presentation.isEnded) return;
  const last = lastSeqOf(presentation);
  const { partMs } = presentation;
  const maxPartsAhead = Math.max(
    PARTS_AHEAD_MIN,
    Math.ceil(PARTS_AHEAD_MS / (partMs ?? PARTS_AHEAD_MS)),
  );
  const newestPart = seq === last + 1 ? partCount(presentation, seq) - 1 : 0;
  const isPartTooFar = part !== null && seq > last && part > newestPart + maxPartsAhead;
  if (seq > last + SEGMENTS_AHEAD || isPartTooFar) {
    throw new Problem(400, 'The requested segment is too far ahead.', {}, { last });
  }
}

/** A requested part. `epoch` is the name of the epoch. */
interface RequestedPart {
  readonly epoch: number;
  readonly seq: number;
  readonly index: number;
}

/** Whether a part is the next one, as announced by `EXT-X-PRELOAD-HINT`. */
export function isNextPart(
  presentation: Presentation,
  { epoch, seq, index }: RequestedPart,
): boolean {
  if (presentation.partMs === null || isEpochOver(presentation, epoch)) return false;
  const last = lastSeqOf(presentation);
  if (seq === last + 1) return index === partCount(presentation, seq);
  return seq === last + 2 && index === 0;
}

/** Whether a part will never exist: its segment is complete, or its epoch has ended. */
export function isPartPast(presentation: Presentation, { epoch, seq }: RequestedPart): boolean {
  return isEpochOver(presentation, epoch) || lastSeqOf(presentation) >= seq;
}

function isEpochOver({ isEnded, epochs }: Presentation, epoch: number): boolean {
  const newest = epochs.at(-1);
  return isEnded || newest === undefined || epochName(newest) !== epoch;
}

function lastSeqOf({ segments }: Presentation): number {
  return segments.at(-1)?.seq ?? -1;
}

function partCount({ parts }: Presentation, seq: number): number {
  return parts.get(seq)?.length ?? 0;
}
