import { expect, test } from 'bun:test';
import { FourbeatError } from '../../sdk/errors.ts';
import type { Stream } from '../../sdk/types.ts';
import { STREAM } from '../../test/support/player/pages/fake-viewer.ts';
import type { PlaybackState } from './playback.ts';
import { type StageStatus, stageStatus } from './stage-status.ts';

const online = (status: Stream['status']) =>
  ({ state: 'live', error: null, stream: { ...STREAM, status } }) as const;
const offline = (kind: FourbeatError['kind']) =>
  ({ state: 'offline', error: new FourbeatError(kind, 'no'), stream: null }) as const;
const joining = { state: 'joining', error: null, stream: null } as const;

test.each<[StageStatus, Parameters<typeof stageStatus>[0], PlaybackState]>([
  ['joining', joining, 'none'],
  ['lobby', online('CREATED'), 'none'],
  ['loading', online('STREAMING'), 'none'],
  ['loading', online('STREAMING'), 'loading'],
  ['waiting', online('STREAMING'), 'missing'],
  ['stalled', online('STREAMING'), 'stalled'],
  ['stalled', online('STREAMING'), 'lost'],
  // A long network failure does not mean that there is no recording.
  ['stalled', online('ENDED'), 'lost'],
  ['press-play', online('STREAMING'), 'press-play'],
  ['playing', online('STREAMING'), 'playing'],
  ['no-recording', online('ENDED'), 'missing'],
  ['over', online('ENDED'), 'over'],
  ['not-loaded', online('STREAMING'), 'not-loaded'],
  ['unknown', offline('unknown'), 'none'],
  ['unknown', offline('refused'), 'none'],
  ['denied', offline('denied'), 'none'],
  ['unavailable', offline('unavailable'), 'none'],
  ['unavailable', offline('busy'), 'none'],
  // The video may come from another server and continue while the service is unavailable.
  ['playing', offline('unavailable'), 'playing'],
  ['over', offline('unavailable'), 'over'],
])('the stage status is %s', (status, snapshot, playback) => {
  expect(stageStatus(snapshot, playback)).toBe(status);
});
