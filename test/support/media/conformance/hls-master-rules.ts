import {
  type HlsMultivariantPlaylist,
  type HlsSegment,
  type HlsVariant,
  quoted,
} from './hls-parser.ts';
import type { MeasuredSegment } from './hls-segment-rules.ts';
import type { Findings } from './violation.ts';

/** The measured segments of a media playlist, oldest first. */
export interface MeasuredTrack {
  readonly targetS: number;
  readonly segments: readonly {
    readonly segment: HlsSegment;
    readonly measurement: MeasuredSegment;
  }[];
}

/** Rules for a multivariant playlist and its media playlists (RFC 8216, 4.3.4; 8216bis, 4.4.6). */
export function checkMaster(
  master: HlsMultivariantPlaylist,
  tracks: ReadonlyMap<string, MeasuredTrack>,
  findings: Findings,
): void {
  findings.check(master.variants.length > 0, 'variants', 'missing');
  const groups = new Map<string, string>();
  for (const media of master.media) {
    const [type, group, name, uri] = ['TYPE', 'GROUP-ID', 'NAME', 'URI'].map((key) =>
      media.get(key),
    );
    const isComplete = type === 'AUDIO' && quoted(group) && quoted(name) && quoted(uri);
    findings.check(Boolean(isComplete), 'media', [...media].join(' '));
    findings.check(tracks.has(quoted(uri) ?? ''), 'media', `${uri} is missing`);
    groups.set(quoted(group) ?? '', quoted(uri) ?? '');
  }
  const uris = master.variants.map(({ uri }) => uri);
  findings.check(new Set(uris).size === uris.length, 'variants', `duplicate: ${uris.join(' ')}`);
  for (const variant of master.variants) checkVariant(variant, groups, tracks, findings);
}

function checkVariant(
  { uri, attributes }: HlsVariant,
  groups: ReadonlyMap<string, string>,
  tracks: ReadonlyMap<string, MeasuredTrack>,
  findings: Findings,
): void {
  const video = tracks.get(uri);
  if (!findings.check(video !== undefined, 'variants', `${uri} is missing`) || !video) return;
  const group = quoted(attributes.get('AUDIO'));
  const audio = tracks.get(groups.get(group ?? '') ?? '');
  findings.check(group === null || audio !== undefined, 'audio-group', `${uri}: ${group}`);
  const all = audio ? [video, audio] : [video];
  checkRates(uri, attributes, all, findings);
  const newest = all.map(({ segments }) => segments.at(-1)?.measurement.init);
  const codecs = newest.map((init) => init?.codec).join(',');
  const declared = quoted(attributes.get('CODECS'));
  findings.check(declared === codecs, 'codecs', `${uri}: ${declared}, expected ${codecs}`);
  const size = `${newest[0]?.width}x${newest[0]?.height}`;
  const resolution = attributes.get('RESOLUTION');
  findings.check(resolution === size, 'resolution', `${uri}: ${resolution}, expected ${size}`);
  checkFrameRate(uri, attributes.get('FRAME-RATE'), video, findings);
}

function checkRates(
  uri: string,
  attributes: HlsVariant['attributes'],
  tracks: readonly MeasuredTrack[],
  findings: Findings,
): void {
  const bandwidth = Number(attributes.get('BANDWIDTH'));
  findings.check(bandwidth > 0, 'bandwidth', `${uri}: ${bandwidth}`);
  const peak = tracks.reduce((sum, track) => sum + peakRate(track), 0);
  findings.check(bandwidth >= peak - 1, 'bandwidth', `${uri}: ${bandwidth}, it needs ${peak}`);
  const average = attributes.get('AVERAGE-BANDWIDTH');
  if (average === undefined) return;
  const measured = tracks.reduce((sum, track) => sum + averageRate(track), 0);
  const isClose =
    Math.abs(Number(average) - measured) <= 0.1 * measured && Number(average) <= bandwidth;
  findings.check(isClose, 'average-bandwidth', `${uri}: ${average}, expected ${measured}`);
}

function checkFrameRate(
  uri: string,
  declared: string | undefined,
  { segments }: MeasuredTrack,
  findings: Findings,
): void {
  const newest = segments.at(-1);
  if (!newest) return;
  const { facts, startMs, endMs } = newest.measurement;
  const measured = (facts.samples * 1_000) / (endMs - startMs);
  const isClose = Math.abs(Number(declared) - measured) <= 0.02 * measured;
  findings.check(isClose, 'frame-rate', `${uri}: ${declared}, expected ${measured}`);
}

// Largest rate of any run of segments with a duration of 0.5 to 1.5 target durations.
function peakRate({ segments, targetS }: MeasuredTrack): number {
  let peak = 0;
  for (let from = 0; from < segments.length; from++) {
    let durationS = 0;
    let bits = 0;
    for (const [i, { segment, measurement }] of segments.slice(from, from + 8).entries()) {
      // A gap ends a run.
      if (segment.seq !== (segments[from]?.segment.seq ?? 0) + i) break;
      durationS += segment.durationS;
      bits += measurement.byteLength * 8;
      if (durationS > 1.5 * targetS) break;
      if (durationS >= 0.5 * targetS) peak = Math.max(peak, bits / durationS);
    }
  }
  return peak;
}

function averageRate({ segments }: MeasuredTrack): number {
  const bits = segments.reduce((sum, { measurement }) => sum + measurement.byteLength * 8, 0);
  return bits / segments.reduce((sum, { segment }) => sum + segment.durationS, 0);
}
