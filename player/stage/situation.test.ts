import { expect, test } from 'bun:test';
import { FourbeatError } from '../../sdk/errors.ts';
import type { Stream } from '../../sdk/types.ts';
import { STREAM } from '../../test/support/player/pages/fake-viewer.ts';
import type { PlaybackState } from './playback.ts';
import { type Situation, situationOf } from './situation.ts';

const here = (status: Stream['status']) =>
  ({ state: 'live', trouble: null, stream: { ...STREAM, status } }) as const;
const lost = (kind: FourbeatError['kind']) =>
  ({ state: 'offline', trouble: new FourbeatError(kind, 'no'), stream: null }) as const;
const joining = { state: 'joining', trouble: null, stream: null } as const;

test.each<[Situation, Parameters<typeof situationOf>[0], PlaybackState]>([
  ['joining', joining, 'none'],
  ['lobby', here('CREATED'), 'none'],
  ['loading', here('STREAMING'), 'none'],
  ['loading', here('STREAMING'), 'loading'],
  ['waiting', here('STREAMING'), 'absent'],
  ['stalled', here('STREAMING'), 'stalled'],
  ['stalled', here('STREAMING'), 'lost'],
  // That its network is away for long does not say that there is no recording.
  ['stalled', here('ENDED'), 'lost'],
  ['press-play', here('STREAMING'), 'press-play'],
  ['playing', here('STREAMING'), 'playing'],
  ['gone', here('ENDED'), 'absent'],
  ['over', here('ENDED'), 'over'],
  ['unloaded', here('STREAMING'), 'unloaded'],
  ['unknown', lost('unknown'), 'none'],
  ['unknown', lost('refused'), 'none'],
  ['denied', lost('denied'), 'none'],
  ['away', lost('away'), 'none'],
  ['away', lost('busy'), 'none'],
  // The picture comes from elsewhere, perhaps: it may go on while the service is away.
  ['playing', lost('away'), 'playing'],
  ['over', lost('away'), 'over'],
])('%s', (situation, snapshot, playback) => {
  expect(situationOf(snapshot, playback)).toBe(situation);
});
