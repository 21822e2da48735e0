import type { AudioTrack, Presentation, Track, VideoTrack } from '../segment.ts';
import { type BitRates, bitRates } from './bit-rates.ts';
import { exceedsDvrWindow } from './dvr-window.ts';
import { livePlaylistSuffix, recordingPlaylistSuffix } from './playlist-contents.ts';
import type { Rendering } from './rendering.ts';

const AUDIO_GROUP = 'sound';

/**
 * Renders the HLS multivariant playlist (RFC 8216, 4.3.4) with the tracks of the newest epoch.
 * @returns null before the first epoch
 */
export function* hlsMultivariantPlaylist(presentation: Presentation): Rendering {
  const epoch = presentation.epochs.at(-1);
  if (!epoch) return null;
  const audio = epoch.tracks.find((track) => track.kind === 'audio') ?? null;
  // The whole recording has its own playlists. Those of the live stream keep their window after the
  // end, since players that have loaded them expect their numbers to rise.
  const suffix = exceedsDvrWindow(presentation)
    ? recordingPlaylistSuffix(presentation)
    : livePlaylistSuffix(presentation);
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'];
  if (audio) lines.push(audioMediaTag(audio, suffix));
  const rates = new Map<Track, BitRates | null>();
  for (const track of epoch.tracks) rates.set(track, yield* bitRates(presentation, track.id));
  for (const track of epoch.tracks) {
    if (track.kind !== 'video') continue;
    lines.push(streamInfTag(rates, track, audio), `${track.id}${suffix}`);
  }
  return [`${lines.join('\n')}\n`];
}

function audioMediaTag({ id, channels }: AudioTrack, suffix: string): string {
  const attributes = [
    'TYPE=AUDIO',
    `GROUP-ID="${AUDIO_GROUP}"`,
    'NAME="Sound"',
    'DEFAULT=YES',
    'AUTOSELECT=YES',
    `CHANNELS="${channels}"`,
    `URI="${id}${suffix}"`,
  ];
  return `#EXT-X-MEDIA:${attributes.join(',')}`;
}

function streamInfTag(
  rates: ReadonlyMap<Track, BitRates | null>,
  track: VideoTrack,
  audio: AudioTrack | null,
): string {
  const tracks = audio ? [track, audio] : [track];
  const [frames, seconds] = track.frameRate;
  const averages = tracks.map((each) => rates.get(each)?.average ?? null);
  // The bandwidth that the encoder is set to, or the measured peak if that is higher.
  const bandwidths = tracks.map((each) => Math.max(each.bandwidth, rates.get(each)?.peak ?? 0));
  const attributes = [
    `BANDWIDTH=${sum(bandwidths)}`,
    ...(averages.includes(null) ? [] : [`AVERAGE-BANDWIDTH=${sum(averages as number[])}`]),
    `CODECS="${tracks.map(({ codec }) => codec).join(',')}"`,
    `RESOLUTION=${track.width}x${track.height}`,
    `FRAME-RATE=${(frames / seconds).toFixed(3)}`,
    ...(audio ? [`AUDIO="${AUDIO_GROUP}"`] : []),
  ];
  return `#EXT-X-STREAM-INF:${attributes.join(',')}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
