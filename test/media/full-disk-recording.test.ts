import { afterEach, expect, test } from 'bun:test';
import { createInitSegment, createRun, TRACKS } from '../support/media/fragment-fixture.ts';
import { type Encoding, removeShows, Show } from '../support/media/show-fixture.ts';

const IDS = TRACKS.map(({ id }) => id);
const INITS = new Map(TRACKS.map((track) => [track.id, createInitSegment(track)]));

afterEach(removeShows);

// Segments last 1 s. While the disk is full, the newest 31 are available, from memory.
/** Output of an encoder that starts at this second. */
const encodingFrom = (second: number): Encoding => ({
  tracks: TRACKS,
  inits: INITS,
  fragments: createRun({ fromMs: second * 1_000, seconds: 150 }),
});

test('[M-24] [M-25] [M-27] [M-29] a disk that is full for a while loses the segments of that time only', async () => {
  const show = await Show.begin(IDS);
  const playUntil = show.encoder(encodingFrom(0));
  await playUntil(40);
  expect(await show.violations()).toEqual([]);
  show.disk.failure = 'EIO';
  await playUntil(60);
  expect(await show.violations()).toEqual([]);
  await playUntil(95);
  expect(show.runs()).toEqual(['0-39', '64-94']);
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e0']);
  show.disk.failure = null;
  await playUntil(140);
  const firstAfterGap = Number(show.runs()[1]?.split('-')[0]);
  expect(firstAfterGap).toBeWithin(65, 95);
  expect(show.runs()).toEqual(['0-39', `${firstAfterGap}-139`]);
  expect(await show.violations()).toEqual([]);
  expect(await show.text('manifest.mpd')).toContain(`startNumber="${firstAfterGap}"`);
  expect(await show.text('manifest.mpd')).not.toContain('startNumber="0"');
  // A new encoder after a few seconds.
  await show.encoder(encodingFrom(145))(155);
  expect(await show.periods()).toEqual(['e0', 'e1']);
  expect(await show.violations()).toEqual([]);
  await show.channel.end();
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e0', `e0-${firstAfterGap}`, 'e1']);

  const restarted = await show.reopen(true);
  expect(restarted.runs()).toEqual(['0-39', `${firstAfterGap}-149`]);
  expect(await restarted.violations()).toEqual([]);
  for (const name of ['v0.m3u8', 'v1.m3u8', 'manifest.mpd']) {
    expect(await restarted.text(name)).toBe(await show.text(name));
  }
  const playlist = await restarted.text('v0.m3u8');
  expect(playlist).toContain('#EXT-X-MEDIA-SEQUENCE:0\n');
  expect(playlist.match(/#EXT-X-GAP/g)).toHaveLength(firstAfterGap - 40);
});

test('[M-27] [M-29] a disk that is full over several encoder epochs loses the segments of that time only', async () => {
  const show = await Show.begin(IDS);
  const playUntil = show.encoder(encodingFrom(0));
  await playUntil(40);
  show.disk.failure = 'EIO';
  await playUntil(50);
  await show.encoder(encodingFrom(55))(65);
  await show.encoder(encodingFrom(70))(130);
  expect(show.runs()).toEqual(['0-39', '89-119']);
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e2']);
  show.disk.failure = null;
  await show.stored.close(false);

  const restarted = await show.reopen(false);
  expect(restarted.runs()).toEqual(['0-39', '89-119']);
  expect(await restarted.violations()).toEqual([]);
  expect(await restarted.periods()).toEqual(['e2']);
  await restarted.encoder(encodingFrom(140))(150);
  expect(await restarted.violations()).toEqual([]);
  await restarted.channel.end();
  expect(await restarted.violations()).toEqual([]);
  expect(await restarted.periods()).toEqual(['e0', 'e2', 'e3']);
  expect(await restarted.text('v0.m3u8')).toMatch(
    /0-88\.m4s\n(#EXT-X-DISCONTINUITY\n){2}#EXT-X-MAP/,
  );
});
