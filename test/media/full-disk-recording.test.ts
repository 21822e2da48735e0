import { afterEach, expect, test } from 'bun:test';
import { madeInit, madeRun, TRACKS } from '../support/media/made-fragments.ts';
import { type Encoding, removeShows, Show } from '../support/media/show-fixture.ts';

const IDS = TRACKS.map(({ id }) => id);
const INITS = new Map(TRACKS.map((track) => [track.id, madeInit(track)]));

afterEach(removeShows);

/** What an encoder makes that begins at this second. */
const from = (second: number): Encoding => ({
  tracks: TRACKS,
  inits: INITS,
  fragments: madeRun({ fromMs: second * 1_000, seconds: 150 }),
});

test('[M-24] [M-25] [M-27] [M-29] a disk that is full for a while costs what was made meanwhile, and nothing else', async () => {
  const show = await Show.begin(IDS);
  const play = show.encoder(from(0));
  await play(40);
  expect(await show.violations()).toEqual([]);
  show.disk.failure = 'EIO';
  await play(60);
  expect(await show.violations()).toEqual([]);
  await play(95);
  expect(show.runs()).toEqual(['0-39', '64-94']);
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e0']);
  show.disk.failure = null;
  await play(140);
  const next = Number(show.runs()[1]?.split('-')[0]);
  expect(next).toBeWithin(65, 95);
  expect(show.runs()).toEqual(['0-39', `${next}-139`]);
  expect(await show.violations()).toEqual([]);
  expect(await show.text('manifest.mpd')).toContain(`startNumber="${next}"`);
  expect(await show.text('manifest.mpd')).not.toContain('startNumber="0"');
  // Another encoder, after some seconds.
  await show.encoder(from(145))(155);
  expect(await show.periods()).toEqual(['e0', 'e1']);
  expect(await show.violations()).toEqual([]);
  await show.channel.end();
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e0', `e0-${next}`, 'e1']);

  const later = await show.again(true);
  expect(later.runs()).toEqual(['0-39', `${next}-149`]);
  expect(await later.violations()).toEqual([]);
  for (const name of ['v0.m3u8', 'v1.m3u8', 'manifest.mpd']) {
    expect(await later.text(name)).toBe(await show.text(name));
  }
  const playlist = await later.text('v0.m3u8');
  expect(playlist).toContain('#EXT-X-MEDIA-SEQUENCE:0\n');
  expect(playlist.match(/#EXT-X-GAP/g)).toHaveLength(next - 40);
});

test('[M-27] [M-29] so does one that is full while encoders come and go', async () => {
  const show = await Show.begin(IDS);
  const play = show.encoder(from(0));
  await play(40);
  show.disk.failure = 'EIO';
  await play(50);
  await show.encoder(from(55))(65);
  await show.encoder(from(70))(130);
  expect(show.runs()).toEqual(['0-39', '89-119']);
  expect(await show.violations()).toEqual([]);
  expect(await show.periods()).toEqual(['e2']);
  show.disk.failure = null;
  await show.shelf.close(false);

  const later = await show.again(false);
  expect(later.runs()).toEqual(['0-39', '89-119']);
  expect(await later.violations()).toEqual([]);
  expect(await later.periods()).toEqual(['e2']);
  await later.encoder(from(140))(150);
  expect(await later.violations()).toEqual([]);
  await later.channel.end();
  expect(await later.violations()).toEqual([]);
  expect(await later.periods()).toEqual(['e0', 'e2', 'e3']);
  expect(await later.text('v0.m3u8')).toMatch(/0-88\.m4s\n(#EXT-X-DISCONTINUITY\n){2}#EXT-X-MAP/);
});
