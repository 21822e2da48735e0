import type { HlsMediaPlaylist, HlsPart, HlsSegment } from './hls-parser.ts';
import { type InitFacts, readInit, readSegment, type SegmentFacts } from './mp4-parser.ts';
import type { Findings, ReadFile } from './violation.ts';

/** Allowed step of the timeline between segments, ms: 1 ms plus rounding to ticks. */
export const STEP_MS = 1.05;
// Dates are rounded to whole ms.
const DATE_MS = 0.55;

/** Properties of a segment by its bytes. */
export interface MeasuredSegment {
  readonly facts: SegmentFacts;
  readonly init: InitFacts;
  readonly byteLength: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Rules for segment files. Each segment is read once. */
export class HlsSegmentRules {
  private readonly inits = new Map<string, InitFacts | null>();
  private readonly measurements = new Map<string, MeasuredSegment | null>();

  constructor(private readonly read: ReadFile) {}

  init(uri: string, findings: Findings): InitFacts | null {
    const known = this.inits.get(uri);
    if (known !== undefined) return known;
    const init = this.attempt(uri, readInit, 'init', findings);
    if (init) findings.check(!init.isShifted, 'edit-list', `${uri} moves presentation time`);
    this.inits.set(uri, init);
    return init;
  }

  /** Reads a segment, and on the first read checks it against its playlist entry. */
  segment(segment: HlsSegment, map: string | null, findings: Findings): MeasuredSegment | null {
    if (segment.isGap) {
      findings.check(this.read(segment.uri) === null, 'gap', `${segment.uri} exists`);
      return null;
    }
    const known = this.measurements.get(segment.uri);
    if (known !== undefined) return known;
    const measured = map === null ? null : this.measureSegment(segment, map, findings);
    this.measurements.set(segment.uri, measured);
    if (measured) checkSegment(segment, measured, findings);
    return measured;
  }

  /** Concatenated parts equal their segment (8216bis, 3.2). */
  parts(playlist: HlsMediaPlaylist, findings: Findings): void {
    for (const { uri, parts } of playlist.segments) {
      if (parts.length === 0) continue;
      const joined = Buffer.concat(parts.map((part) => this.read(part.uri) ?? new Uint8Array()));
      const segmentBytes = this.read(uri) ?? new Uint8Array();
      findings.check(joined.equals(segmentBytes), 'part-bytes', `${uri} differs from its parts`);
    }
    const last = playlist.segments.at(-1)?.map;
    const init = last ? this.init(last, findings) : null;
    if (init) for (const part of playlist.openParts) this.part(part, init, findings);
  }

  private part(part: HlsPart, init: InitFacts, findings: Findings): void {
    const facts = this.attempt(part.uri, (bytes) => readSegment(bytes, init), 'part', findings);
    if (!facts) return;
    const errorMs = Math.abs(msOf(facts.durationTicks, init) - part.durationS * 1_000);
    findings.check(errorMs < 0.05, 'part-duration', `${part.uri} has an error of ${errorMs} ms`);
    const holds = facts.isSync || !part.isIndependent;
    findings.check(holds, 'part-independent', `${part.uri} does not start with a key frame`);
  }

  private measureSegment(
    segment: HlsSegment,
    map: string,
    findings: Findings,
  ): MeasuredSegment | null {
    const init = this.init(map, findings);
    const bytes = this.read(segment.uri);
    if (!init || !bytes) {
      findings.check(bytes !== null, 'segment', `${segment.uri} is missing`);
      return null;
    }
    const read = (from: Uint8Array) => readSegment(from, init);
    const facts = this.attempt(segment.uri, read, 'segment', findings);
    if (!facts) return null;
    const startMs = msOf(facts.startTicks, init);
    const endMs = startMs + msOf(facts.durationTicks, init);
    return { facts, init, byteLength: bytes.length, startMs, endMs };
  }

  private attempt<T>(
    uri: string,
    parse: (bytes: Uint8Array) => T,
    rule: string,
    findings: Findings,
  ): T | null {
    const bytes = this.read(uri);
    if (!findings.check(bytes !== null, rule, `${uri} is missing`) || !bytes) return null;
    try {
      return parse(bytes);
    } catch (error) {
      findings.check(false, rule, `${uri}: ${(error as Error).message}`);
      return null;
    }
  }
}

/**
 * Successive segments form a continuous timeline. Over gaps and between epochs, time only moves
 * forward.
 */
export function checkFollows(
  before: { readonly segment: HlsSegment; readonly measurement: MeasuredSegment },
  after: { readonly segment: HlsSegment; readonly measurement: MeasuredSegment },
  findings: Findings,
): void {
  const { uri } = after.segment;
  const gapMs = after.measurement.startMs - before.measurement.endMs;
  const isNext = after.segment.seq === before.segment.seq + 1;
  if (!isNext || before.segment.discontinuity !== after.segment.discontinuity) {
    findings.check(
      gapMs >= -STEP_MS,
      'timeline',
      `${uri} is ${-gapMs} ms before the end of the previous segment`,
    );
    return;
  }
  findings.check(Math.abs(gapMs) <= STEP_MS, 'timeline', `${uri}: a gap of ${gapMs} ms`);
  const expectedMs = before.measurement.startMs + before.segment.durationS * 1_000;
  const errorMs = Math.abs(after.measurement.startMs - expectedMs);
  findings.check(errorMs < 0.05, 'extinf-sum', `${uri} begins ${errorMs} ms off the sum of EXTINF`);
  const numbers = [
    before.measurement.facts.sequences.at(-1) ?? 0,
    after.measurement.facts.sequences[0] ?? 0,
  ];
  const rises = (numbers[1] ?? 0) > (numbers[0] ?? 0);
  findings.check(rises, 'fragment-numbers', `${uri}: ${numbers.join(' then ')}`);
}

function checkSegment(segment: HlsSegment, measurement: MeasuredSegment, findings: Findings): void {
  const { uri, durationS, dateMs } = segment;
  const { facts, init, startMs, endMs } = measurement;
  findings.check(facts.isSync, 'first-sample-sync', `${uri} does not start with a key frame`);
  const errorMs = Math.abs(endMs - startMs - durationS * 1_000);
  findings.check(errorMs <= STEP_MS, 'extinf-real', `${uri} has an error of ${errorMs} ms`);
  const dateErrorMs = Math.abs(startMs - (dateMs ?? 0));
  findings.check(
    dateErrorMs <= DATE_MS,
    'date-is-media-time',
    `${uri} has an error of ${dateErrorMs} ms`,
  );
  findings.check(!facts.hasShift, 'composition', `${uri} shows samples at another time`);
  const gapMs = Math.abs(msOf(facts.maxGapTicks, init));
  findings.check(gapMs <= STEP_MS, 'timeline', `${uri}: a gap of ${gapMs} ms within`);
}

/** Converts ticks to ms, with whole seconds separate for precision. */
export function msOf(ticks: number, { timescale }: InitFacts): number {
  const remainder = ticks % timescale;
  return ((ticks - remainder) / timescale) * 1_000 + (remainder * 1_000) / timescale;
}
