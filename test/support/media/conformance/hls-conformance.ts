import { checkMaster, type MeasuredTrack } from './hls-master-rules.ts';
import {
  type HlsMediaPlaylist,
  type HlsSegment,
  parseMediaPlaylist,
  parseMultivariantPlaylist,
} from './hls-parser.ts';
import { checkDelta, checkText, pairs } from './hls-playlist-rules.ts';
import { checkReload } from './hls-reload-rules.ts';
import {
  checkFollows,
  HlsSegmentRules,
  type MeasuredSegment,
  STEP_MS,
} from './hls-segment-rules.ts';
import { Findings, type ReadFile, type Violation } from './violation.ts';

/** All playlists of a stream at one time. */
export interface HlsSnapshot {
  readonly master: string;
  /** Media playlists by their URI in the multivariant playlist. */
  readonly media: ReadonlyMap<string, string>;
  /** Responses to `_HLS_skip=YES`, by the same URIs. */
  readonly deltas?: ReadonlyMap<string, string>;
}

// Audio is cut at the nearest fragment boundary.
const AUDIO_CUT_MS = 100;
// A source's audio may start after its video.
const FIRST_AUDIO_MS = 250;

/**
 * Checks the HLS playlists of a stream and their segments against RFC 8216, its second edition
 * (8216bis), and the service's own timeline rules (SPEC M-11, M-12, M-24). Also checks the changes
 * between successive snapshots.
 */
export class HlsConformance {
  private readonly segmentRules: HlsSegmentRules;
  private before: ReadonlyMap<string, HlsMediaPlaylist> = new Map();
  private readonly checkedPairs = new Set<string>();

  constructor(read: ReadFile) {
    this.segmentRules = new HlsSegmentRules(read);
  }

  check(snapshot: HlsSnapshot): Violation[] {
    const findings = new Findings();
    const media = new Map<string, HlsMediaPlaylist>();
    const tracks = new Map<string, MeasuredTrack>();
    for (const [name, text] of snapshot.media) {
      const playlist = parseMediaPlaylist(name, text, findings);
      media.set(name, playlist);
      checkText(name, playlist, findings);
      const before = this.before.get(name);
      if (before) checkReload(name, before, playlist, findings);
      tracks.set(name, { targetS: playlist.targetS, segments: this.measured(playlist, findings) });
      this.segmentRules.parts(playlist, findings);
      const delta = snapshot.deltas?.get(name);
      if (delta) checkDelta(name, playlist, parseMediaPlaylist(name, delta, findings), findings);
    }
    checkNumbers(media, findings);
    checkAligned(tracks, findings);
    checkMaster(parseMultivariantPlaylist('master', snapshot.master, findings), tracks, findings);
    this.before = media;
    return findings.violations;
  }

  private measured(playlist: HlsMediaPlaylist, findings: Findings): MeasuredTrack['segments'] {
    const measured = playlist.segments.flatMap((segment): Measured[] => {
      const measurement = this.segmentRules.segment(segment, segment.map, findings);
      return measurement ? [{ segment, measurement }] : [];
    });
    for (const [before, after] of pairs(measured)) {
      if (this.checkedPairs.has(after.segment.uri)) continue;
      this.checkedPairs.add(after.segment.uri);
      checkFollows(before, after, findings);
    }
    return measured;
  }
}

interface Measured {
  readonly segment: HlsSegment;
  readonly measurement: MeasuredSegment;
}

/** All renditions have the same sequence numbers (RFC 8216, 6.2.4). */
function checkNumbers(media: ReadonlyMap<string, HlsMediaPlaylist>, findings: Findings): void {
  const [first, ...others] = [...media];
  if (!first) return;
  for (const [name, playlist] of others) {
    const detail = `${name} and ${first[0]} differ`;
    findings.check(playlist.targetS === first[1].targetS, 'renditions-target', detail);
    findings.check(playlist.isEnded === first[1].isEnded, 'renditions-end', detail);
    findings.check(numbers(playlist) === numbers(first[1]), 'renditions-numbers', detail);
  }
}

function numbers({ segments, type }: HlsMediaPlaylist): string {
  return JSON.stringify([type, segments.map(({ seq, discontinuity }) => [seq, discontinuity])]);
}

/** Segments with the same number start at the same time in all renditions. */
function checkAligned(tracks: ReadonlyMap<string, MeasuredTrack>, findings: Findings): void {
  const [first, ...others] = [...tracks];
  if (!first) return;
  const starts = new Map(
    first[1].segments.map(({ segment, measurement }) => [segment.seq, measurement]),
  );
  for (const [name, { segments }] of others) {
    for (const [index, { segment, measurement }] of segments.entries()) {
      const reference = starts.get(segment.seq);
      if (!reference) continue;
      const errorMs = Math.abs(measurement.startMs - reference.startMs);
      const isEpochStart = segments[index - 1]?.segment.discontinuity !== segment.discontinuity;
      const audioToleranceMs = isEpochStart ? FIRST_AUDIO_MS : AUDIO_CUT_MS;
      const toleranceMs = measurement.init.kind === 'audio' ? audioToleranceMs : STEP_MS;
      const detail = `${name} ${segment.seq} is ${errorMs} ms off ${first[0]}`;
      findings.check(errorMs <= toleranceMs, 'aligned', detail);
    }
  }
}
