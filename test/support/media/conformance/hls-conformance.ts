import { checkFollows, HlsBytes, type Known, STEP_MS } from './hls-bytes-rules.ts';
import { checkMaster, type MeasuredTrack } from './hls-master-rules.ts';
import { checkReload } from './hls-reload-rules.ts';
import { type HlsMediaText, type HlsSegment, readMaster, readMedia } from './hls-text.ts';
import { checkDelta, checkText, pairs } from './hls-text-rules.ts';
import { Findings, type ReadFile, type Violation } from './violation.ts';

/** All playlists of a stream, as they are at one time. */
export interface HlsSnapshot {
  readonly master: string;
  /** By their URI in the multivariant playlist. */
  readonly media: ReadonlyMap<string, string>;
  /** Answers to `_HLS_skip=YES`. */
  readonly deltas?: ReadonlyMap<string, string>;
}

// Sound is cut at the boundary of its fragments that is nearest.
const SOUND_MS = 100;
// And a source's own may begin after its picture.
const FIRST_SOUND_MS = 250;

/**
 * Holds the HLS playlists of a stream, and the segments they name, against RFC 8216 and its second
 * edition, and against what this service promises of time (SPEC M-11, M-12, M-24). Give it one
 * snapshot after the other: it also checks what may change between them.
 */
export class HlsConformance {
  private readonly bytes: HlsBytes;
  private before: ReadonlyMap<string, HlsMediaText> = new Map();
  private readonly followed = new Set<string>();

  constructor(read: ReadFile) {
    this.bytes = new HlsBytes(read);
  }

  check(snapshot: HlsSnapshot): Violation[] {
    const findings = new Findings();
    const media = new Map<string, HlsMediaText>();
    const tracks = new Map<string, MeasuredTrack>();
    for (const [name, text] of snapshot.media) {
      const playlist = readMedia(name, text, findings);
      media.set(name, playlist);
      checkText(name, playlist, findings);
      const before = this.before.get(name);
      if (before) checkReload(name, before, playlist, findings);
      tracks.set(name, { targetS: playlist.targetS, segments: this.measured(playlist, findings) });
      this.bytes.parts(playlist, findings);
      const delta = snapshot.deltas?.get(name);
      if (delta) checkDelta(name, playlist, readMedia(name, delta, findings), findings);
    }
    checkSame(media, findings);
    checkAligned(tracks, findings);
    checkMaster(readMaster('master', snapshot.master, findings), tracks, findings);
    this.before = media;
    return findings.violations;
  }

  private measured(playlist: HlsMediaText, findings: Findings): MeasuredTrack['segments'] {
    const measured = playlist.segments.flatMap((segment): Measured[] => {
      const known = this.bytes.segment(segment, segment.map, findings);
      return known ? [{ segment, known }] : [];
    });
    for (const [before, after] of pairs(measured)) {
      if (this.followed.has(after.segment.uri)) continue;
      this.followed.add(after.segment.uri);
      checkFollows(before, after, findings);
    }
    return measured;
  }
}

interface Measured {
  readonly segment: HlsSegment;
  readonly known: Known;
}

/** All renditions say the same of numbers (RFC 8216, 6.2.4). */
function checkSame(media: ReadonlyMap<string, HlsMediaText>, findings: Findings): void {
  const [first, ...others] = [...media];
  if (!first) return;
  for (const [name, playlist] of others) {
    const detail = `${name} and ${first[0]} differ`;
    findings.check(playlist.targetS === first[1].targetS, 'renditions-target', detail);
    findings.check(playlist.isEnded === first[1].isEnded, 'renditions-end', detail);
    findings.check(numbers(playlist) === numbers(first[1]), 'renditions-numbers', detail);
  }
}

function numbers({ segments, type }: HlsMediaText): string {
  return JSON.stringify([type, segments.map(({ seq, discontinuity }) => [seq, discontinuity])]);
}

/** Segments with the same number begin at the same time in all renditions. */
function checkAligned(tracks: ReadonlyMap<string, MeasuredTrack>, findings: Findings): void {
  const [first, ...others] = [...tracks];
  if (!first) return;
  const starts = new Map(first[1].segments.map(({ segment, known }) => [segment.seq, known]));
  for (const [name, { segments }] of others) {
    for (const [at, { segment, known }] of segments.entries()) {
      const reference = starts.get(segment.seq);
      if (!reference) continue;
      const offMs = Math.abs(known.startMs - reference.startMs);
      const begins = segments[at - 1]?.segment.discontinuity !== segment.discontinuity;
      const soundMs = begins ? FIRST_SOUND_MS : SOUND_MS;
      const mostMs = known.init.kind === 'audio' ? soundMs : STEP_MS;
      const detail = `${name} ${segment.seq} is ${offMs} ms off ${first[0]}`;
      findings.check(offMs <= mostMs, 'aligned', detail);
    }
  }
}
