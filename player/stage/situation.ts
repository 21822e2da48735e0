import type { Snapshot } from '../../sdk/viewer.ts';
import type { PlaybackState } from './playback.ts';

/** What the viewer is to know about the picture. */
export type Situation =
  | 'joining'
  | 'unknown'
  | 'denied'
  | 'away'
  | 'lobby'
  | 'waiting'
  | 'loading'
  | 'stalled'
  | 'press-play'
  | 'playing'
  | 'over'
  | 'gone'
  | 'unloaded';

type Seen = Pick<Snapshot, 'state' | 'trouble' | 'stream'>;

/** @returns what is true now, by what the service says and how the picture is */
export function situationOf({ state, trouble, stream }: Seen, playback: PlaybackState): Situation {
  // A picture that plays needs no word, whatever else is in trouble.
  if (playback === 'playing' || playback === 'press-play' || playback === 'over') return playback;
  if (playback === 'unloaded') return playback;
  if (state === 'offline') {
    if (trouble?.kind === 'denied') return 'denied';
    // What is no id of a stream is refused.
    return trouble?.kind === 'unknown' || trouble?.kind === 'refused' ? 'unknown' : 'away';
  }
  if (!stream) return 'joining';
  if (stream.status === 'CREATED') return 'lobby';
  if (playback === 'absent') return stream.status === 'ENDED' ? 'gone' : 'waiting';
  return playback === 'stalled' || playback === 'lost' ? 'stalled' : 'loading';
}

/** Words for it, and for what to do; null: none are needed. */
export const WORDS: Readonly<
  Record<Situation, { readonly title: string; readonly more: string } | null>
> = {
  joining: { title: 'Joining …', more: '' },
  unknown: { title: 'There is no such show', more: 'Look at the address again.' },
  denied: { title: 'You are not let in', more: 'Open the page again from where you found it.' },
  away: { title: 'The service cannot be reached', more: 'Trying again …' },
  lobby: { title: 'The show has not begun', more: 'Stay here: it starts by itself.' },
  waiting: {
    title: 'Waiting for the picture …',
    more: 'The show is on; its picture comes by itself.',
  },
  loading: null,
  stalled: { title: 'The picture is interrupted', more: 'It goes on by itself.' },
  'press-play': { title: 'Press play to watch', more: '' },
  playing: null,
  over: { title: 'The show is over', more: 'Thank you for being there.' },
  unloaded: { title: 'The picture could not be loaded', more: '' },
  gone: { title: 'The show is over', more: 'There is no recording of it.' },
};
