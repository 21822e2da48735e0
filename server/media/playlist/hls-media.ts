import type { Sliced } from '../../platform/slices.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type Piece,
  type Presentation,
  type Segment,
  type Track,
  type TrackId,
} from '../segment.ts';
import { msOf } from '../track-queue.ts';
import { epochWith, hasTrack } from './epochs.ts';
import { livePlaylistSuffix } from './playlist-contents.ts';
import { type Rendering, SEGMENTS_PER_STEP } from './rendering.ts';
import { longestPartMs, targetDurationS } from './target-duration.ts';

// RFC 8216bis, 4.4.3.8: HOLD-BACK is at least three target durations, CAN-SKIP-UNTIL at least six.
const HOLD_BACK_TARGETS = 3;
const SKIP_TARGETS = 6;
// RFC 8216bis, 4.4.3.8: at least two, better three part target durations.
const PART_HOLD_BACK_PARTS = 3;
// RFC 8216bis, 6.2.2: parts are removed after three target durations.
const PARTS_TARGETS = 3;

/**
 * Renders the HLS media playlist of a track (RFC 8216; 8216bis for delta updates and low latency), in
 * service time. Equal presentations give equal texts. A segment takes 2 to 9 µs the first time; in live
 * playlists it takes a tenth of that later, because its tags are cached.
 *
 * @param skip `_HLS_skip=YES`: a delta update without old segments (RFC 8216bis, 6.2.5.1)
 * @returns null when no segment and no part has this track
 */
export function* hlsMediaPlaylist(
  presentation: Presentation,
  track: TrackId,
  skip = false,
): Rendering {
  const playlist = new MediaPlaylist(presentation, track);
  return playlist.isEmpty() ? null : yield* playlist.pieces(skip);
}

class MediaPlaylist {
  /** The epoch that was looked up last, and this track of it. */
  private epoch: Epoch | undefined;
  private epochTrack: Track | undefined;
  private readonly targetS: number;
  private readonly openSegment: { readonly seq: number; readonly parts: readonly Part[] };
  private readonly isLowLatency: boolean;

  constructor(
    private readonly presentation: Presentation,
    private readonly id: TrackId,
  ) {
    const { segments, parts, isEnded } = presentation;
    this.targetS = targetDurationS(presentation.segmentMs);
    this.isLowLatency = presentation.partMs !== null;
    const last = segments.at(-1);
    const seq = last ? last.seq + 1 : Math.max(0, ...parts.keys());
    this.openSegment = { seq, parts: (isEnded ? undefined : parts.get(seq)) ?? [] };
  }

  isEmpty(): boolean {
    return (
      !hasTrack(this.presentation.epochs, this.id) ||
      (this.presentation.segments.length === 0 && this.openSegment.parts.length === 0)
    );
  }

  *pieces(skip: boolean): Sliced<string[]> {
    const { segments, isEnded } = this.presentation;
    const skippedCount = skip && !isEnded ? this.countSegmentsBefore(SKIP_TARGETS) : 0;
    const hasParts = this.isLowLatency && !isEnded;
    const firstWithParts = hasParts ? this.countSegmentsBefore(PARTS_TARGETS) : segments.length;
    const pieces: string[] = [];
    let isWhole = true;
    for (let from = skippedCount; from < segments.length; from += SEGMENTS_PER_STEP) {
      const to = Math.min(from + SEGMENTS_PER_STEP, segments.length);
      let text = '';
      for (let i = from; i < to; i++) {
        isWhole &&= (segments[i] as Segment).pieces.has(this.id);
        text += this.tagsAt(i, i >= firstWithParts);
      }
      pieces.push(text);
      yield;
    }
    const head = this.head(skippedCount, isWhole);
    const end = isEnded ? '#EXT-X-ENDLIST\n' : this.isLowLatency ? this.liveEdgeTags() : '';
    return [head, ...pieces, end];
  }

  private tagsAt(index: number, withParts: boolean): string {
    const { segments } = this.presentation;
    const segment = segments[index] as Segment;
    const before = segments[index - 1]?.epoch;
    const discontinuity =
      before === segment.epoch ? '' : this.discontinuityTags(before, segment.epoch);
    if (!withParts) return discontinuity + this.segmentTags(segment);
    const parts = this.partTags(segment.seq, segment.epoch);
    return discontinuity + this.dateTag(segment) + parts + this.segmentUriTags(segment);
  }

  private head(skippedCount: number, isWhole: boolean): string {
    const { segments, epochs } = this.presentation;
    const [first] = segments;
    const epoch = first?.epoch ?? epochs.at(-1)?.number ?? 0;
    const lines = [
      '#EXTM3U',
      `#EXT-X-VERSION:${this.version(skippedCount, isWhole)}`,
      `#EXT-X-TARGETDURATION:${this.targetS}`,
      this.serverControl(),
      `#EXT-X-MEDIA-SEQUENCE:${first?.seq ?? this.openSegment.seq}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${epoch}`,
      '#EXT-X-INDEPENDENT-SEGMENTS',
    ];
    if (this.isLowLatency) lines.push(`#EXT-X-PART-INF:PART-TARGET=${this.partTargetS()}`);
    // No EXT-X-PLAYLIST-TYPE: an EVENT playlist may not lose segments, which eviction does, and a
    // playlist may not become VOD (RFC 8216, 6.2.1). EXT-X-ENDLIST suffices.
    if (skippedCount > 0) lines.push(`#EXT-X-SKIP:SKIPPED-SEGMENTS=${skippedCount}`);
    return `${lines.join('\n')}\n`;
  }

  // 7: fragmented MP4; 8: EXT-X-GAP; 9: EXT-X-SKIP.
  private version(skippedCount: number, isWhole: boolean): number {
    if (skippedCount > 0 || this.isLowLatency) return 9;
    return isWhole ? 7 : 8;
  }

  private serverControl(): string {
    const { latencyMs, segmentMs } = this.presentation;
    // HOLD-BACK counts from the end of the playlist, which lags the current time by a segment or more.
    const holdBackS = Math.max(HOLD_BACK_TARGETS * this.targetS, (latencyMs - segmentMs) / 1_000);
    const control = [
      `CAN-SKIP-UNTIL=${SKIP_TARGETS * this.targetS}.0`,
      `HOLD-BACK=${holdBackS.toFixed(1)}`,
    ];
    if (this.isLowLatency) {
      control.unshift('CAN-BLOCK-RELOAD=YES');
      control.push(`PART-HOLD-BACK=${(PART_HOLD_BACK_PARTS * this.partTargetS()).toFixed(3)}`);
    }
    return `#EXT-X-SERVER-CONTROL:${control.join(',')}`;
  }

  private partTargetS(): number {
    return longestPartMs(this.presentation.partMs ?? 0) / 1_000;
  }

  // Every epoch is a discontinuity, also one without segments, so that the number of an epoch is its
  // discontinuity sequence number. For the first segment of the playlist it is in the header.
  private discontinuityTags(before: number | undefined, epoch: number): string {
    const discontinuities = before === undefined ? 0 : epoch - before;
    const uri = `${this.id}/init-${this.nameOf(epoch)}.mp4`;
    const map = this.trackIn(epoch) ? `#EXT-X-MAP:URI="${uri}"\n` : '';
    return '#EXT-X-DISCONTINUITY\n'.repeat(discontinuities) + map;
  }

  private segmentTags(segment: Segment): string {
    const render = () => this.dateTag(segment) + this.segmentUriTags(segment);
    // A playlist that has ended is rendered once; with the cache it took twice as long.
    if (this.presentation.isEnded) return render();
    const byTrack = SEGMENT_TAGS.get(segment) ?? new Map<TrackId, string>();
    SEGMENT_TAGS.set(segment, byTrack);
    let tags = byTrack.get(this.id);
    if (tags === undefined) {
      tags = render();
      byTrack.set(this.id, tags);
    }
    return tags;
  }

  private dateTag(segment: Segment): string {
    const piece = segment.pieces.get(this.id);
    const timescale = this.trackIn(segment.epoch)?.timescale;
    const startMs = piece && timescale ? msOf(piece.startTicks, timescale) : segment.startMs;
    return programDateTime(startMs);
  }

  private segmentUriTags(segment: Segment): string {
    // The segment was lost, or its epoch does not have this rendition.
    const gap = segment.pieces.has(this.id) ? '' : '#EXT-X-GAP\n';
    const uri = `${this.pathOf(segment.epoch, segment.seq)}.m4s`;
    return `${gap}#EXTINF:${this.durationS(segment).toFixed(6)},\n${uri}\n`;
  }

  private durationS({ pieces, epoch, durationMs }: Segment): number {
    const piece = pieces.get(this.id);
    const track = this.trackIn(epoch);
    return piece && track ? secondsOf(piece, track) : durationMs / 1_000;
  }

  private partTags(seq: number, epoch: number): string {
    const { parts } = this.presentation;
    const track = this.trackIn(epoch);
    if (!track) return '';
    const { openSegment } = this;
    const list = seq === openSegment.seq ? openSegment.parts : (parts.get(seq) ?? []);
    const lines = list.map((part) => {
      const piece = part.pieces.get(this.id);
      if (!piece) return '';
      const durationS = secondsOf(piece, track).toFixed(6);
      const independent = part.isIndependent || track.kind === 'audio' ? ',INDEPENDENT=YES' : '';
      return `#EXT-X-PART:DURATION=${durationS},URI="${this.partUri(epoch, seq, part.index)}"${independent}\n`;
    });
    return lines.join('');
  }

  // The open segment: its parts, the preload hint, and reports of the other renditions.
  private liveEdgeTags(): string {
    const { segments, epochs } = this.presentation;
    const { seq, parts } = this.openSegment;
    const epoch = epochs.at(-1)?.number ?? 0;
    let text = '';
    const [first] = parts;
    if (first) {
      const before = segments.at(-1)?.epoch;
      if (before !== epoch) text += this.discontinuityTags(before, epoch);
      const piece = first.pieces.get(this.id);
      const track = this.trackIn(epoch);
      if (piece && track) text += programDateTime(msOf(piece.startTicks, track.timescale));
      text += this.partTags(seq, epoch);
    }
    // A full segment completes only when the next one starts: announce the next one's first part.
    const isFull =
      this.openDurationS() >= this.presentation.segmentMs / 1_000 - this.partTargetS() / 4;
    const hint = isFull ? this.partUri(epoch, seq + 1, 0) : this.partUri(epoch, seq, parts.length);
    text += `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${hint}"\n`;
    const lastPart = parts.length > 0 ? parts.length - 1 : null;
    const lastSeq = lastPart === null ? seq - 1 : seq;
    const part = lastPart ?? (this.presentation.parts.get(lastSeq)?.length ?? 0) - 1;
    for (const { id } of epochs.at(-1)?.tracks ?? []) {
      if (id === this.id) continue;
      const position = `LAST-MSN=${lastSeq}${part >= 0 ? `,LAST-PART=${part}` : ''}`;
      const uri = `${id}${livePlaylistSuffix(this.presentation)}`;
      text += `#EXT-X-RENDITION-REPORT:URI="${uri}",${position}\n`;
    }
    return text;
  }

  private partUri(epoch: number, seq: number, index: number): string {
    return `${this.pathOf(epoch, seq)}.${index}.m4s`;
  }

  private pathOf(epoch: number, seq: number): string {
    return `${this.id}/${this.nameOf(epoch)}-${seq}`;
  }

  private nameOf(epoch: number): number | undefined {
    this.lookUp(epoch);
    return this.epoch && epochName(this.epoch);
  }

  private trackIn(epoch: number): Track | undefined {
    this.lookUp(epoch);
    return this.epochTrack;
  }

  /** Segments are in the order of their epochs, so most lookups repeat the one before. */
  private lookUp(epoch: number): void {
    if (this.epoch?.number === epoch) return;
    this.epoch = epochWith(this.presentation.epochs, epoch);
    this.epochTrack = this.epoch?.tracks.find(({ id }) => id === this.id);
  }

  private openDurationS(): number {
    const track = this.trackIn(this.presentation.epochs.at(-1)?.number ?? 0);
    if (!track) return 0;
    const pieces = this.openSegment.parts.map(({ pieces }) => pieces.get(this.id));
    return pieces.reduce((sum, piece) => sum + (piece ? secondsOf(piece, track) : 0), 0);
  }

  /** Number of segments that end at least this many target durations before the playlist's end. */
  private countSegmentsBefore(targets: number): number {
    const { segments } = this.presentation;
    let count = segments.length;
    let fromEndS = this.openDurationS();
    while (count > 0 && fromEndS < targets * this.targetS) {
      count--;
      fromEndS += this.durationS(segments[count] as Segment);
    }
    return count;
  }
}

/** Cached tags of a segment by track; they never change. */
const SEGMENT_TAGS = new WeakMap<Segment, Map<TrackId, string>>();

function programDateTime(startMs: number): string {
  return `#EXT-X-PROGRAM-DATE-TIME:${new Date(Math.round(startMs)).toISOString()}\n`;
}

function secondsOf({ durationTicks }: Piece, { timescale }: Track): number {
  return durationTicks / timescale;
}
