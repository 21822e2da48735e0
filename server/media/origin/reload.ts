import { Problem } from '../../http/problem.ts';
import { epochName, type Presentation } from '../segment.ts';

/** What a request for a media playlist asks (RFC 8216bis, 6.2.5). */
export interface Reload {
  /** Held until this segment is in the playlist; null: what there is. */
  readonly seq: number | null;
  /** Held until this part of it is. */
  readonly part: number | null;
  /** Old segments may be left out. */
  readonly skip: boolean;
}

const NUMBER = /^(?:0|[1-9]\d{0,14})$/;
const PLAIN: Reload = { seq: null, part: null, skip: false };

// RFC 8216bis, 6.2.5.2: further ahead than this is answered 400.
const SEGMENTS_AHEAD = 2;
const PARTS_AHEAD_MS = 3_000;
const PARTS_AHEAD_MIN = 3;

/** @throws Problem 400 when it is not understood */
export function reloadOf(url: string): Reload {
  const query = url.indexOf('?');
  if (query === -1 || !url.includes('_HLS_', query)) return PLAIN;
  const asked = new URLSearchParams(url.slice(query));
  const seq = numberOf(asked, '_HLS_msn');
  const part = numberOf(asked, '_HLS_part');
  if (part !== null && seq === null) throw new Problem(400, '_HLS_part is for use with _HLS_msn.');
  const skips = asked.getAll('_HLS_skip');
  if (skips.length > 1 || !skips.every((skip) => skip === 'YES' || skip === 'v2')) {
    throw new Problem(400, '_HLS_skip is YES or v2.');
  }
  return { seq, part, skip: skips.length > 0 };
}

function numberOf(asked: URLSearchParams, name: string): number | null {
  const values = asked.getAll(name);
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1 || !NUMBER.test(value)) {
    throw new Problem(400, `${name} is one whole number.`);
  }
  return Number(value);
}

/** Whether a playlist has what was asked for. */
export function isThere(presentation: Presentation, { seq, part }: Reload): boolean {
  if (seq === null || presentation.isEnded) return true;
  const last = lastSeqOf(presentation);
  if (last > seq) return true;
  if (part === null || presentation.partMs === null) return last >= seq;
  if (last === seq) {
    // After the last part of a segment comes the first of the next.
    const isOfNext = part >= partsOf(presentation, seq);
    return !isOfNext || partsOf(presentation, seq + 1) > 0;
  }
  return last + 1 === seq && partsOf(presentation, seq) > part;
}

/** @throws Problem 400 when that is further ahead than anybody may wait for */
export function checkAhead(presentation: Presentation, { seq, part }: Reload): void {
  if (seq === null || presentation.isEnded) return;
  const last = lastSeqOf(presentation);
  const { partMs } = presentation;
  const limit = Math.max(PARTS_AHEAD_MIN, Math.ceil(PARTS_AHEAD_MS / (partMs ?? PARTS_AHEAD_MS)));
  const newest = seq === last + 1 ? partsOf(presentation, seq) - 1 : 0;
  const isFarPart = part !== null && seq > last && part > newest + limit;
  if (seq > last + SEGMENTS_AHEAD || isFarPart) {
    throw new Problem(400, 'That is too far ahead.', {}, { last });
  }
}

/** A part of the epoch with this name. */
interface AskedPart {
  readonly epoch: number;
  readonly seq: number;
  readonly index: number;
}

/** Whether a part is the next to come, as `EXT-X-PRELOAD-HINT` says it. */
export function isNextPart(presentation: Presentation, { epoch, seq, index }: AskedPart): boolean {
  if (presentation.partMs === null || hasLeft(presentation, epoch)) return false;
  const last = lastSeqOf(presentation);
  if (seq === last + 1) return index === partsOf(presentation, seq);
  return seq === last + 2 && index === 0;
}

/** Whether a part will never come: its segment is whole without it, or another epoch began. */
export function isPast(presentation: Presentation, { epoch, seq }: AskedPart): boolean {
  return hasLeft(presentation, epoch) || lastSeqOf(presentation) >= seq;
}

function hasLeft({ isEnded, epochs }: Presentation, epoch: number): boolean {
  const newest = epochs.at(-1);
  return isEnded || newest === undefined || epochName(newest) !== epoch;
}

function lastSeqOf({ segments }: Presentation): number {
  return segments.at(-1)?.seq ?? -1;
}

function partsOf({ parts }: Presentation, seq: number): number {
  return parts.get(seq)?.length ?? 0;
}
