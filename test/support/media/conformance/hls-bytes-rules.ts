import type { HlsMediaText, HlsPart, HlsSegment } from './hls-text.ts';
import { type InitFacts, readInit, readSegment, type SegmentFacts } from './mp4.ts';
import type { Findings, ReadFile } from './violation.ts';

/** By how much time may step from segment to segment, ms; and what rounding to ticks adds. */
export const STEP_MS = 1.05;
// A date has whole ms.
const DATE_MS = 0.55;

/** A segment as its bytes are. */
export interface Known {
  readonly facts: SegmentFacts;
  readonly init: InitFacts;
  readonly byteLength: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Rules that need the bytes. Each segment is read once. */
export class HlsBytes {
  private readonly inits = new Map<string, InitFacts | null>();
  private readonly known = new Map<string, Known | null>();

  constructor(private readonly read: ReadFile) {}

  init(uri: string, findings: Findings): InitFacts | null {
    const known = this.inits.get(uri);
    if (known !== undefined) return known;
    const init = this.attempt(uri, readInit, 'init', findings);
    if (init) findings.check(!init.isShifted, 'edit-list', `${uri} moves presentation time`);
    this.inits.set(uri, init);
    return init;
  }

  /** Also checks what the playlist says of it, the first time. */
  segment(segment: HlsSegment, map: string | null, findings: Findings): Known | null {
    if (segment.isGap) {
      findings.check(this.read(segment.uri) === null, 'gap', `${segment.uri} is there`);
      return null;
    }
    const known = this.known.get(segment.uri);
    if (known !== undefined) return known;
    const made = map === null ? null : this.readKnown(segment, map, findings);
    this.known.set(segment.uri, made);
    if (made) checkSegment(segment, made, findings);
    return made;
  }

  /** Parts are their segment, cut (8216bis, 3.2). */
  parts(playlist: HlsMediaText, findings: Findings): void {
    for (const { uri, parts } of playlist.segments) {
      if (parts.length === 0) continue;
      const joined = Buffer.concat(parts.map((part) => this.read(part.uri) ?? new Uint8Array()));
      const whole = this.read(uri) ?? new Uint8Array();
      findings.check(joined.equals(whole), 'part-bytes', `${uri} is not its parts`);
    }
    const last = playlist.segments.at(-1)?.map;
    const init = last ? this.init(last, findings) : null;
    if (init) for (const part of playlist.openParts) this.part(part, init, findings);
  }

  private part(part: HlsPart, init: InitFacts, findings: Findings): void {
    const facts = this.attempt(part.uri, (bytes) => readSegment(bytes, init), 'part', findings);
    if (!facts) return;
    const offMs = Math.abs(msOf(facts.durationTicks, init) - part.durationS * 1_000);
    findings.check(offMs < 0.05, 'part-duration', `${part.uri} is off by ${offMs} ms`);
    const holds = facts.isSync || !part.isIndependent;
    findings.check(holds, 'part-independent', `${part.uri} begins with no key frame`);
  }

  private readKnown(segment: HlsSegment, map: string, findings: Findings): Known | null {
    const init = this.init(map, findings);
    const bytes = this.read(segment.uri);
    if (!init || !bytes) {
      findings.check(bytes !== null, 'segment', `${segment.uri} is not there`);
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
    if (!findings.check(bytes !== null, rule, `${uri} is not there`) || !bytes) return null;
    try {
      return parse(bytes);
    } catch (error) {
      findings.check(false, rule, `${uri}: ${(error as Error).message}`);
      return null;
    }
  }
}

/**
 * Segments that follow each other make one timeline; over gaps, and between two epochs, time does
 * not go back.
 */
export function checkFollows(
  before: { readonly segment: HlsSegment; readonly known: Known },
  after: { readonly segment: HlsSegment; readonly known: Known },
  findings: Findings,
): void {
  const { uri } = after.segment;
  const holeMs = after.known.startMs - before.known.endMs;
  const isNext = after.segment.seq === before.segment.seq + 1;
  if (!isNext || before.segment.discontinuity !== after.segment.discontinuity) {
    findings.check(
      holeMs >= -STEP_MS,
      'timeline',
      `${uri} is ${-holeMs} ms before what it follows`,
    );
    return;
  }
  findings.check(Math.abs(holeMs) <= STEP_MS, 'timeline', `${uri}: a hole of ${holeMs} ms`);
  const saidMs = before.known.startMs + before.segment.durationS * 1_000;
  const offMs = Math.abs(after.known.startMs - saidMs);
  findings.check(offMs < 0.05, 'extinf-sum', `${uri} begins ${offMs} ms off what EXTINF says`);
  const numbers = [before.known.facts.sequences.at(-1) ?? 0, after.known.facts.sequences[0] ?? 0];
  const rises = (numbers[1] ?? 0) > (numbers[0] ?? 0);
  findings.check(rises, 'fragment-numbers', `${uri}: ${numbers.join(' then ')}`);
}

function checkSegment(segment: HlsSegment, known: Known, findings: Findings): void {
  const { uri, durationS, dateMs } = segment;
  const { facts, init, startMs, endMs } = known;
  findings.check(facts.isSync, 'first-sample-sync', `${uri} begins with no key frame`);
  const offMs = Math.abs(endMs - startMs - durationS * 1_000);
  findings.check(offMs <= STEP_MS, 'extinf-real', `${uri} is off by ${offMs} ms`);
  const lateMs = Math.abs(startMs - (dateMs ?? 0));
  findings.check(lateMs <= DATE_MS, 'date-is-media-time', `${uri} is off by ${lateMs} ms`);
  findings.check(!facts.hasShift, 'composition', `${uri} shows samples at another time`);
  const holeMs = Math.abs(msOf(facts.hole, init));
  findings.check(holeMs <= STEP_MS, 'timeline', `${uri}: a hole of ${holeMs} ms within`);
}

/** Exact enough for Unix time: whole seconds and ticks apart. */
export function msOf(ticks: number, { timescale }: InitFacts): number {
  const rest = ticks % timescale;
  return ((ticks - rest) / timescale) * 1_000 + (rest * 1_000) / timescale;
}
