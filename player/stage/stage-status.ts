import type { Snapshot } from '../../sdk/viewer.ts';
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

/** The text of each status; null: the stage shows no notice. */
export const STATUS_TEXT: Readonly<
  Record<StageStatus, { readonly title: string; readonly more: string } | null>
> = {
  joining: { title: 'Joining…', more: '' },
  unknown: { title: 'Show not found', more: 'Check the link and try again.' },
  denied: {
    title: 'You cannot join this show',
    more: 'Open the link again from where you got it.',
  },
  unavailable: { title: 'Cannot connect to the show', more: 'Trying again…' },
  lobby: { title: 'The show has not started yet', more: 'Stay here. It starts automatically.' },
  waiting: {
    title: 'Waiting for the video…',
    more: 'The show is on. Its video starts automatically.',
  },
  loading: null,
  stalled: { title: 'The video is interrupted', more: 'It resumes automatically.' },
  'press-play': { title: 'Press play to watch', more: '' },
  playing: null,
  over: { title: 'The show is over', more: 'Thanks for watching.' },
  'not-loaded': { title: 'The video player did not load', more: '' },
  'no-recording': { title: 'The show is over', more: 'There is no recording.' },
};
