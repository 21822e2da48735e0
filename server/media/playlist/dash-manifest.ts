import {
  type AudioTrack,
  type Epoch,
  epochName,
  isGap,
  type Piece,
  type Presentation,
  type Segment,
  type Track,
  type VideoTrack,
} from '../segment.ts';
import { longestSegmentMs } from './target-duration.ts';
import { element } from './xml.ts';

export interface DashOptions {
  /** Where players read the service's clock as ISO 8601, from the manifest's place. */
  readonly timeUrl?: string;
}

/** What was made by one encoder, without a gap. */
interface Period {
  readonly id: string;
  readonly epoch: Epoch;
  /** Service time at which it begins, Unix ms. */
  readonly startMs: number;
  readonly segments: readonly Segment[];
}

// From /media/:stream_id/manifest.mpd. Not from the root: dash.js resolves only what is relative
// against the manifest, and a page may be of another origin.
const TIME_URL = '../../api/v1/time?format=iso';
// How much faster or slower a player with low latency may go to hold it; nobody hears 4 %.
const PLAYBACK_RATE = { min: 0.96, max: 1.04 };

/**
 * The DASH manifest (ISO/IEC 23009-1, live profile; DASH-IF IOP): a Period for each epoch. The same
 * presentation gives the same text.
 *
 * Numbers in a Period have no holes. While it is live a Period goes on as what it was, with only what
 * comes after its last gap; after the end each run between gaps is a Period.
 *
 * In both types, service time = `availabilityStartTime` + presentation time. While it is live
 * presentation time is Unix time; after the end, when the first Period must start at 0,
 * `availabilityStartTime` is the service time of that.
 *
 * @returns null when there is no segment
 */
export function dashManifest(
  presentation: Presentation,
  { timeUrl = TIME_URL }: DashOptions = {},
): string | null {
  const periods = periodsOf(presentation);
  const [first] = periods;
  const last = presentation.segments.at(-1);
  if (!first || !last) return null;
  const { isEnded } = presentation;
  const zeroMs = isEnded ? first.startMs : 0;
  const endMs = last.startMs + last.durationMs;
  const attributes = {
    xmlns: 'urn:mpeg:dash:schema:mpd:2011',
    profiles: 'urn:mpeg:dash:profile:isoff-live:2011',
    type: isEnded ? 'static' : 'dynamic',
    availabilityStartTime: isoTime(zeroMs),
    publishTime: isoTime(endMs),
    ...(isEnded
      ? { mediaPresentationDuration: isoDuration(endMs - zeroMs) }
      : liveAttributes(presentation)),
    minBufferTime: isoDuration(presentation.segmentMs),
    maxSegmentDuration: isoDuration(longestSegmentMs(presentation.segmentMs)),
  };
  const content = periods.map((period) =>
    element(
      'Period',
      { id: period.id, start: isoDuration(period.startMs - zeroMs) },
      adaptationSets(period),
    ),
  );
  if (!isEnded) {
    if (presentation.partMs !== null) content.unshift(serviceDescription(presentation));
    content.push(
      element('UTCTiming', { schemeIdUri: 'urn:mpeg:dash:utc:http-iso:2014', value: timeUrl }),
    );
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('MPD', attributes, content)}\n`;
}

// Players do not count the delay from now, as the standard says, but from the end of what they take
// for available (shaka: now less the longest segment; dash.js: the newest segment). So that much is
// taken off, else shaka is 4.9 s behind the camera with a delay of 3.5 s. A segment is the least.
function liveAttributes({ segmentMs, latencyMs, dvrMs }: Presentation) {
  const delayMs = Math.max(segmentMs, latencyMs - longestSegmentMs(segmentMs));
  return {
    minimumUpdatePeriod: isoDuration(segmentMs),
    suggestedPresentationDelay: isoDuration(delayMs),
    timeShiftBufferDepth: dvrMs === null ? undefined : isoDuration(dvrMs),
  };
}

function serviceDescription({ latencyMs }: Presentation): string {
  return element('ServiceDescription', { id: 0 }, [
    element('Latency', { target: latencyMs }),
    element('PlaybackRate', PLAYBACK_RATE),
  ]);
}

function periodsOf({ epochs, segments, isEnded }: Presentation): Period[] {
  const byNumber = new Map(epochs.map((epoch) => [epoch.number, epoch]));
  const periods: Period[] = [];
  for (let from = 0, to = 0; from < segments.length; from = to) {
    to = endOfRun(segments, from);
    const [first, before, after] = [segments[from] as Segment, segments[from - 1], segments[to]];
    const epoch = byNumber.get(first.epoch);
    if (!epoch || isGap(first)) continue;
    // What follows and is of the same epoch is a gap.
    if (!isEnded && after?.epoch === first.epoch) continue;
    const followsGap = isEnded && (!before || isGap(before));
    const continuesEpoch = periods.at(-1)?.epoch === epoch;
    periods.push({
      id: `e${epoch.number}${continuesEpoch ? `-${first.seq}` : ''}`,
      epoch,
      // Whole ms, so that `availabilityStartTime` can say it of the first.
      startMs: followsGap ? Math.floor(first.startMs) : epoch.startMs,
      segments: segments.slice(from, to),
    });
  }
  return periods;
}

/** Where those end that are of the same epoch, and are gaps or not, as the first of them. */
function endOfRun(segments: readonly Segment[], from: number): number {
  const first = segments[from] as Segment;
  let to = from + 1;
  for (let next = segments[to]; next; next = segments[++to]) {
    if (next.epoch !== first.epoch || isGap(next) !== isGap(first)) break;
  }
  return to;
}

function adaptationSets({ epoch, startMs, segments }: Period): string[] {
  const videos = epoch.tracks.filter((track) => track.kind === 'video');
  const audios = epoch.tracks.filter((track) => track.kind === 'audio');
  const template = (track: Track) => segmentTemplate(epoch, segments, track, startMs);
  const common = { segmentAlignment: 'true', startWithSAP: 1 };
  const sets: string[] = [];
  if (videos.length > 0) {
    const attributes = { id: 0, contentType: 'video', mimeType: 'video/mp4', ...common };
    // As a rule the renditions are cut at the same ticks; then one timeline does for all.
    const [shared, ...others] = new Set(videos.map(template));
    const isShared = shared !== undefined && others.length === 0;
    sets.push(
      element('AdaptationSet', attributes, [
        mainRole(),
        ...(isShared ? [shared] : []),
        ...videos.map((track) => videoRepresentation(track, isShared ? [] : [template(track)])),
      ]),
    );
  }
  for (const [i, track] of audios.entries()) {
    const attributes = { id: i + 1, contentType: 'audio', mimeType: 'audio/mp4', ...common };
    const content = [mainRole(), template(track), audioRepresentation(track)];
    sets.push(element('AdaptationSet', attributes, content));
  }
  return sets;
}

function mainRole(): string {
  return element('Role', { schemeIdUri: 'urn:mpeg:dash:role:2011', value: 'main' });
}

function videoRepresentation(track: VideoTrack, content: readonly string[]): string {
  const { id, codec, bandwidth, width, height, frameRate } = track;
  const [frames, seconds] = frameRate;
  return element(
    'Representation',
    {
      id,
      codecs: codec,
      bandwidth,
      width,
      height,
      frameRate: seconds === 1 ? frames : `${frames}/${seconds}`,
      sar: '1:1',
    },
    content,
  );
}

function audioRepresentation({ id, codec, bandwidth, sampleRate, channels }: AudioTrack): string {
  return element(
    'Representation',
    { id, codecs: codec, bandwidth, audioSamplingRate: sampleRate },
    [
      element('AudioChannelConfiguration', {
        schemeIdUri: 'urn:mpeg:dash:23003:3:audio_channel_configuration:2011',
        value: channels,
      }),
    ],
  );
}

function segmentTemplate(
  epoch: Epoch,
  segments: readonly Segment[],
  { id, timescale }: Track,
  startMs: number,
): string {
  return element(
    'SegmentTemplate',
    {
      timescale,
      presentationTimeOffset: Math.round((startMs / 1_000) * timescale),
      startNumber: (segments[0] as Segment).seq,
      initialization: `$RepresentationID$/init-${epochName(epoch)}.mp4`,
      media: `$RepresentationID$/${epochName(epoch)}-$Number$.m4s`,
    },
    [element('SegmentTimeline', {}, timeline(segments.map(({ pieces }) => pieces.get(id))))],
  );
}

/** `S` elements: those of the same duration that follow each other are one. */
function timeline(pieces: readonly (Piece | undefined)[]): string[] {
  const lines: string[] = [];
  let nextTicks: number | null = null;
  for (let i = 0; i < pieces.length; ) {
    const piece = pieces[i];
    if (!piece) throw new Error('a segment has all tracks of its epoch');
    const { startTicks, durationTicks } = piece;
    let repeats = 0;
    let endTicks = startTicks + durationTicks;
    for (let next = pieces[i + 1]; next; next = pieces[i + repeats + 1]) {
      if (next.startTicks !== endTicks || next.durationTicks !== durationTicks) break;
      repeats++;
      endTicks += durationTicks;
    }
    const t = startTicks === nextTicks ? '' : ` t="${startTicks}"`;
    const r = repeats === 0 ? '' : ` r="${repeats}"`;
    lines.push(`<S${t} d="${durationTicks}"${r}/>`);
    nextTicks = endTicks;
    i += repeats + 1;
  }
  return lines;
}

function isoTime(ms: number): string {
  return new Date(Math.floor(ms)).toISOString();
}

/** `xs:duration` in seconds, to the µs. */
function isoDuration(ms: number): string {
  return `PT${(ms / 1_000).toFixed(6).replace(/\.?0+$/, '')}S`;
}
