import type { Known } from './hls-bytes-rules.ts';
import { type HlsMasterText, type HlsSegment, type HlsVariant, quoted } from './hls-text.ts';
import type { Findings } from './violation.ts';

/** What is known of a media playlist's segments, oldest first. */
export interface MeasuredTrack {
  readonly targetS: number;
  readonly segments: readonly { readonly segment: HlsSegment; readonly known: Known }[];
}

/** Rules on a multivariant playlist (RFC 8216, 4.3.4; 8216bis, 4.4.6), held against its media. */
export function checkMaster(
  master: HlsMasterText,
  tracks: ReadonlyMap<string, MeasuredTrack>,
  findings: Findings,
): void {
  findings.check(master.variants.length > 0, 'variants', 'there is none');
  const groups = new Map<string, string>();
  for (const media of master.media) {
    const [type, group, name, uri] = ['TYPE', 'GROUP-ID', 'NAME', 'URI'].map((key) =>
      media.get(key),
    );
    const isWhole = type === 'AUDIO' && quoted(group) && quoted(name) && quoted(uri);
    findings.check(Boolean(isWhole), 'media', [...media].join(' '));
    findings.check(tracks.has(quoted(uri) ?? ''), 'media', `${uri} is not there`);
    groups.set(quoted(group) ?? '', quoted(uri) ?? '');
  }
  const uris = master.variants.map(({ uri }) => uri);
  findings.check(new Set(uris).size === uris.length, 'variants', `one twice: ${uris.join(' ')}`);
  for (const variant of master.variants) checkVariant(variant, groups, tracks, findings);
}

function checkVariant(
  { uri, attributes }: HlsVariant,
  groups: ReadonlyMap<string, string>,
  tracks: ReadonlyMap<string, MeasuredTrack>,
  findings: Findings,
): void {
  const picture = tracks.get(uri);
  if (!findings.check(picture !== undefined, 'variants', `${uri} is not there`) || !picture) return;
  const group = quoted(attributes.get('AUDIO'));
  const sound = tracks.get(groups.get(group ?? '') ?? '');
  findings.check(group === null || sound !== undefined, 'audio-group', `${uri}: ${group}`);
  const all = sound ? [picture, sound] : [picture];
  checkRates(uri, attributes, all, findings);
  const newest = all.map(({ segments }) => segments.at(-1)?.known.init);
  const codecs = newest.map((init) => init?.codec).join(',');
  const said = quoted(attributes.get('CODECS'));
  findings.check(said === codecs, 'codecs', `${uri}: ${said}, it is ${codecs}`);
  const size = `${newest[0]?.width}x${newest[0]?.height}`;
  const resolution = attributes.get('RESOLUTION');
  findings.check(resolution === size, 'resolution', `${uri}: ${resolution}, it is ${size}`);
  checkFrameRate(uri, attributes.get('FRAME-RATE'), picture, findings);
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
  findings.check(bandwidth >= peak - 1, 'bandwidth', `${uri}: ${bandwidth}, it takes ${peak}`);
  const average = attributes.get('AVERAGE-BANDWIDTH');
  if (average === undefined) return;
  const real = tracks.reduce((sum, track) => sum + averageRate(track), 0);
  const isClose = Math.abs(Number(average) - real) <= 0.1 * real && Number(average) <= bandwidth;
  findings.check(isClose, 'average-bandwidth', `${uri}: ${average}, it is ${real}`);
}

function checkFrameRate(
  uri: string,
  said: string | undefined,
  { segments }: MeasuredTrack,
  findings: Findings,
): void {
  const newest = segments.at(-1);
  if (!newest) return;
  const { facts, startMs, endMs } = newest.known;
  const real = (facts.samples * 1_000) / (endMs - startMs);
  const isClose = Math.abs(Number(said) - real) <= 0.02 * real;
  findings.check(isClose, 'frame-rate', `${uri}: ${said}, it is ${real}`);
}

// The largest of any run of segments that lasts 0.5 to 1.5 target durations.
function peakRate({ segments, targetS }: MeasuredTrack): number {
  let peak = 0;
  for (let from = 0; from < segments.length; from++) {
    let lastsS = 0;
    let bits = 0;
    for (const [i, { segment, known }] of segments.slice(from, from + 8).entries()) {
      // A gap ends a run.
      if (segment.seq !== (segments[from]?.segment.seq ?? 0) + i) break;
      lastsS += segment.durationS;
      bits += known.byteLength * 8;
      if (lastsS > 1.5 * targetS) break;
      if (lastsS >= 0.5 * targetS) peak = Math.max(peak, bits / lastsS);
    }
  }
  return peak;
}

function averageRate({ segments }: MeasuredTrack): number {
  const bits = segments.reduce((sum, { known }) => sum + known.byteLength * 8, 0);
  return bits / segments.reduce((sum, { segment }) => sum + segment.durationS, 0);
}
