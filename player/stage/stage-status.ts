import type { Snapshot } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import type { PlaybackState } from './playback.ts';

/** What the notice on the stage says. */
export type StageStatus =
  | 'joining'
  | 'unknown'
  | 'denied'
  | 'unavailable'
  | 'lobby'
  | 'waiting'
  | 'loading'
  | 'stalled'
  | 'press-play'
  | 'playing'
  | 'over'
  | 'no-recording'
  | 'not-loaded';

/** @returns the status by the viewer's snapshot and the state of the video */
export function stageStatus(
  { state, error, stream }: Pick<Snapshot, 'state' | 'error' | 'stream'>,
  playback: PlaybackState,
): StageStatus {
  // Video that plays needs no notice, whatever else has failed.
  if (playback === 'playing' || playback === 'press-play' || playback === 'over') return playback;
  if (playback === 'not-loaded') return playback;
  if (state === 'offline') {
    if (error?.kind === 'denied') return 'denied';
    // The service refuses an id that no stream can have.
    const isUnknown = error?.kind === 'unknown' || error?.kind === 'refused';
    return isUnknown ? 'unknown' : 'unavailable';
  }
  if (!stream) return 'joining';
  if (stream.status === 'CREATED') return 'lobby';
  if (playback === 'missing') return stream.status === 'ENDED' ? 'no-recording' : 'waiting';
  return playback === 'stalled' || playback === 'lost' ? 'stalled' : 'loading';
}

const { notices } = texts;

/** The text of each status; null: the stage shows no notice. */
export const STATUS_TEXT: Readonly<
  Record<StageStatus, { readonly title: string; readonly more: string } | null>
> = {
  joining: notices.joining,
  unknown: notices.unknown,
  denied: notices.denied,
  unavailable: notices.unavailable,
  lobby: notices.lobby,
  waiting: notices.waiting,
  loading: null,
  stalled: notices.stalled,
  'press-play': notices.pressPlay,
  playing: null,
  over: notices.over,
  'not-loaded': notices.notLoaded,
  'no-recording': notices.noRecording,
};
