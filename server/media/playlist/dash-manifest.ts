import type { Sliced } from '../../platform/slices.ts';
import {
  type AudioTrack,
  type Epoch,
  epochName,
  isGap,
  type Presentation,
  type Segment,
  type Track,
  type TrackId,
  type VideoTrack,
} from '../segment.ts';
import { epochWith } from './epochs.ts';
import { type Rendering, SEGMENTS_PER_STEP } from './rendering.ts';
import { longestSegmentMs } from './target-duration.ts';
import { element } from './xml.ts';

/** A run of segments of one epoch without gaps. */
interface Period {
  readonly id: string;
  readonly epoch: Epoch;
  /** Service time at which it starts, Unix ms. */
  readonly startMs: number;
  readonly segments: readonly Segment[];
}

/** A rendered Period, with what it depends on. */
interface PeriodText {
  readonly first: Segment;
  readonly last: Segment;
  readonly start: string;
  readonly text: string;
}

/**
 * Rendered Periods by epoch and id: in a live manifest only the first and the last one change. Not by segment: a
 * recording keeps all of its segments, and after two hours each render has another first one.
 */
const PERIOD_TEXTS = new WeakMap<Epoch, Map<string, PeriodText>>();

/**
 * Most Periods of a manifest, the newest: those of a source that reconnects every 3 s for two hours. A
 * recording with 24,000 of them had a manifest of 35 MB, which stopped the thread for a second.
 */
export const PERIODS_MAX = 2_400;

// Service time. Relative to /media/:stream_id/manifest.mpd, because dash.js does not resolve absolute
// paths against the manifest, and the page may have another origin.
const TIME_URL = '../../api/v1/time?format=iso';
// Playback rates at which low-latency players adjust their latency; 4 % is inaudible.
const PLAYBACK_RATE = { min: 0.96, max: 1.04 };

/**
 * Renders the DASH manifest (ISO/IEC 23009-1, live profile; DASH-IF IOP), with a Period for each
 * epoch. Equal presentations give equal texts.
 *
 * `PERIODS_MAX` Periods take some 10 ms, and 100 ms the first time.
 *
 * Segment numbers in a Period are consecutive. In a live manifest, a Period lists only the segments
 * after its last gap; after the end, each run between gaps is a Period.
 *
 * Service time = `availabilityStartTime` + presentation time. In a live manifest, presentation time is
 * Unix time. After the end, the first Period starts at 0 and `availabilityStartTime` is its service
 * time.
 *
 * @returns null without segments
 */
export function* dashManifest(presentation: Presentation): Rendering {
  const periods = (yield* periodsOf(presentation)).slice(-PERIODS_MAX);
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
  const content: string[] = [];
  for (const period of periods) {
    yield;
    content.push(yield* periodText(period, isoDuration(period.startMs - zeroMs)));
  }
  if (!isEnded) {
    if (presentation.partMs !== null) content.unshift(serviceDescription(presentation));
    const timing = { schemeIdUri: 'urn:mpeg:dash:utc:http-iso:2014', value: TIME_URL };
    content.push(element('UTCTiming', timing));
  }
  return ['<?xml version="1.0" encoding="UTF-8"?>\n', element('MPD', attributes, content), '\n'];
}

// Players count the delay not from now, as the standard says, but from the end of the available
// segments (shaka: now minus the longest segment; dash.js: the newest segment). Subtract that, or
// shaka plays 4.9 s behind the camera with a delay of 3.5 s. The minimum is one segment.
// At low latency, a manifest that is read once a second shows a segment when the buffer is already
// empty: shaka stopped once in 20 s and then stayed 3.0 s behind the camera; read three times a second,
// it never stopped.
function liveAttributes({ segmentMs, latencyMs, partMs, dvrMs }: Presentation) {
  const delayMs = Math.max(segmentMs, latencyMs - longestSegmentMs(segmentMs));
  return {
    minimumUpdatePeriod: isoDuration(partMs ?? segmentMs),
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

function* periodsOf({ epochs, segments, isEnded }: Presentation): Sliced<Period[]> {
  const periods: Period[] = [];
  for (let from = 0, to = 0; from < segments.length; from = to) {
    to = yield* endOfRun(segments, from);
    const [first, before, after] = [segments[from] as Segment, segments[from - 1], segments[to]];
    const epoch = epochWith(epochs, first.epoch);
    if (!epoch || isGap(first)) continue;
    // A gap of the same epoch follows: a live manifest omits this run.
    if (!isEnded && after?.epoch === first.epoch) continue;
    const followsGap = isEnded && (!before || isGap(before));
    const continuesEpoch = periods.at(-1)?.epoch === epoch;
    periods.push({
      id: `e${epoch.number}${continuesEpoch ? `-${first.seq}` : ''}`,
      epoch,
      // Whole ms, the resolution of `availabilityStartTime`.
      startMs: followsGap ? Math.floor(first.startMs) : epoch.startMs,
      segments: segments.slice(from, to),
    });
  }
  return periods;
}

/** The end index of a run of segments of one epoch that are all gaps or all no gaps. */
function* endOfRun(segments: readonly Segment[], from: number): Sliced<number> {
  const first = segments[from] as Segment;
  let to = from + 1;
  for (let next = segments[to]; next; next = segments[++to]) {
    if (to % SEGMENTS_PER_STEP === 0) yield;
    if (next.epoch !== first.epoch || isGap(next) !== isGap(first)) break;
  }
  return to;
}

function* periodText(period: Period, start: string): Sliced<string> {
  const { id, epoch, segments } = period;
  const [first, last] = [segments[0] as Segment, segments.at(-1) as Segment];
  const texts = PERIOD_TEXTS.get(epoch) ?? new Map<string, PeriodText>();
  PERIOD_TEXTS.set(epoch, texts);
  const cached = texts.get(id);
  if (cached?.first === first && cached.last === last && cached.start === start) return cached.text;
  const text = element('Period', { id, start }, yield* adaptationSets(period));
  texts.set(id, { first, last, start, text });
  return text;
}

function* adaptationSets({ epoch, startMs, segments }: Period): Sliced<string[]> {
  const templates = new Map<Track, string>();
  for (const track of epoch.tracks) {
    templates.set(track, yield* segmentTemplate(epoch, segments, track, startMs));
  }
  const template = (track: Track) => templates.get(track) as string;
  const videos = epoch.tracks.filter((track) => track.kind === 'video');
  const audios = epoch.tracks.filter((track) => track.kind === 'audio');
  const common = { segmentAlignment: 'true', startWithSAP: 1 };
  const sets: string[] = [];
  if (videos.length > 0) {
    const attributes = { id: 0, contentType: 'video', mimeType: 'video/mp4', ...common };
    // The renditions are usually cut at the same ticks and share one timeline.
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
  const { id, codec: codecs, bandwidth, width, height } = track;
  const [frames, seconds] = track.frameRate;
  const frameRate = seconds === 1 ? frames : `${frames}/${seconds}`;
  const attributes = { id, codecs, bandwidth, width, height, frameRate, sar: '1:1' };
  return element('Representation', attributes, content);
}

function audioRepresentation({ id, codec, bandwidth, sampleRate, channels }: AudioTrack): string {
  const attributes = { id, codecs: codec, bandwidth, audioSamplingRate: sampleRate };
  const schemeIdUri = 'urn:mpeg:dash:23003:3:audio_channel_configuration:2011';
  const configuration = element('AudioChannelConfiguration', { schemeIdUri, value: channels });
  return element('Representation', attributes, [configuration]);
}

function* segmentTemplate(
  epoch: Epoch,
  segments: readonly Segment[],
  { id, timescale }: Track,
  startMs: number,
): Sliced<string> {
  const attributes = {
    timescale,
    presentationTimeOffset: Math.round((startMs / 1_000) * timescale),
    startNumber: (segments[0] as Segment).seq,
    initialization: `$RepresentationID$/init-${epochName(epoch)}.mp4`,
    media: `$RepresentationID$/${epochName(epoch)}-$Number$.m4s`,
  };
  const entries = yield* timelineEntries(segments, id);
  return element('SegmentTemplate', attributes, [element('SegmentTimeline', {}, entries)]);
}

/** Contiguous segments of equal duration. */
interface TimelineRun {
  /** The attribute `t`; empty when the run follows the previous one. */
  readonly start: string;
  readonly durationTicks: number;
  endTicks: number;
  repeats: number;
}

/** An `S` element for each run of segments. */
function* timelineEntries(segments: readonly Segment[], id: TrackId): Sliced<string[]> {
  const elements: string[] = [];
  let run = null as TimelineRun | null;
  for (const [i, { pieces }] of segments.entries()) {
    if (i % SEGMENTS_PER_STEP === 0) yield;
    const piece = pieces.get(id);
    if (!piece) throw new Error('a segment lacks a track of its epoch');
    const { startTicks, durationTicks } = piece;
    const endTicks = startTicks + durationTicks;
    const isContiguous = run?.endTicks === startTicks;
    if (run && isContiguous && run.durationTicks === durationTicks) {
      run.repeats++;
      run.endTicks = endTicks;
      continue;
    }
    if (run) elements.push(runElement(run));
    run = { start: isContiguous ? '' : ` t="${startTicks}"`, durationTicks, endTicks, repeats: 0 };
  }
  if (run) elements.push(runElement(run));
  return elements;
}

function runElement({ start, durationTicks, repeats }: TimelineRun): string {
  return `<S${start} d="${durationTicks}"${repeats === 0 ? '' : ` r="${repeats}"`}/>`;
}

function isoTime(ms: number): string {
  return new Date(Math.floor(ms)).toISOString();
}

/** `xs:duration` in seconds, with µs resolution. */
function isoDuration(ms: number): string {
  return `PT${(ms / 1_000).toFixed(6).replace(/\.?0+$/, '')}S`;
}
