import { expect, test } from 'bun:test';
import {
  manifestText,
  masterPlaylistText,
  mediaPlaylistText,
} from '../../test/support/media/playlist-texts.ts';
import { BEGIN_MS, epochOf, segmentOf } from '../../test/support/media/segment-store-fixture.ts';
import {
  FakeStreamSegments,
  MEDIA_CONFIG,
} from '../../test/support/media/source-registry-fixture.ts';
import { Channel } from './channel.ts';
import { dashManifest } from './playlist/dash-manifest.ts';
import { withinDvrWindow } from './playlist/dvr-window.ts';
import { hlsMediaPlaylist } from './playlist/hls-media.ts';
import { hlsMultivariantPlaylist } from './playlist/hls-multivariant.ts';
import type { Segment } from './segment.ts';

const HOUR_S = 3_600;
const WINDOW_S = 2 * HOUR_S;

/** Segments of 1 s in memory that count how many of them are read. */
class CountingSegments extends FakeStreamSegments {
  reads = 0;
  override readonly segments = new Proxy<Segment[]>([], {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) this.reads++;
      return Reflect.get(target, name);
    },
  });
}

/** A recording that has lasted this long. */
function record(seconds: number) {
  const segments = new CountingSegments();
  segments.retention = 'recording';
  const channel = new Channel('one', segments, MEDIA_CONFIG, false, null);
  channel.setStream({ recording: true, started: BEGIN_MS, reopened: null });
  segments.addEpoch(epochOf(0));
  for (let seq = 0; seq < seconds; seq++) segments.segments.push(segmentOf(seq, 0, 10)[0]);
  segments.version++;
  return { channel, segments };
}

function render(channel: Channel) {
  const presentation = channel.presentation();
  return {
    media: mediaPlaylistText(presentation, 'v0') ?? '',
    delta: mediaPlaylistText(presentation, 'v0', true) ?? '',
    master: masterPlaylistText(presentation) ?? '',
    dash: manifestText(presentation) ?? '',
  };
}

const numberIn = (text: string, name: string) =>
  Number(new RegExp(`${name}[:=]"?(\\d+)`).exec(text)?.[1]);

test('[M-27] live playlists of a recording take the same work and bytes after 10 hours as after 2', () => {
  const [short, long] = [record(WINDOW_S), record(10 * HOUR_S)];
  const measured = [short, long].map(({ channel, segments }) => {
    segments.reads = 0;
    const texts = render(channel);
    // Many requests for the same version.
    for (let i = 0; i < 100; i++) channel.presentation();
    return { reads: segments.reads, lengths: Object.values(texts).map(({ length }) => length) };
  });
  const [before, after] = measured as [(typeof measured)[0], (typeof measured)[0]];
  for (const [i, length] of after.lengths.entries()) {
    expect(length).toBeLessThan((before.lengths[i] ?? 0) * 1.02);
  }
  expect(after.reads).toBeLessThan(WINDOW_S + 100);
  const { media, dash } = render(long.channel);
  expect(numberIn(media, 'EXT-X-MEDIA-SEQUENCE')).toBe(10 * HOUR_S - WINDOW_S);
  expect(numberIn(dash, 'startNumber')).toBe(10 * HOUR_S - WINDOW_S);
  expect(dash).toContain('timeShiftBufferDepth="PT7200S"');
});

test('[M-27] the end of a recording makes all of it playable, and no sequence number goes back', async () => {
  const { channel } = record(WINDOW_S + 100);
  const live = render(channel);
  expect(live.master).toContain('\nv0.m3u8');
  await channel.end();
  const presentation = channel.presentation();
  const ended = mediaPlaylistText(withinDvrWindow(presentation), 'v0') ?? '';
  expect(ended).toBe(`${live.media}#EXT-X-ENDLIST\n`);
  const { media, master, dash } = render(channel);
  expect(master).toContain('\nv0-recording.m3u8');
  expect(master).toContain('URI="a0-recording.m3u8"');
  expect(numberIn(media, 'EXT-X-MEDIA-SEQUENCE')).toBe(0);
  expect(media.match(/#EXTINF/g)).toHaveLength(WINDOW_S + 100);
  expect(numberIn(dash, 'startNumber')).toBe(0);
});

test('[M-27] a recording within the window keeps its playlists after the end', async () => {
  const { channel } = record(100);
  const { media } = render(channel);
  await channel.end();
  expect(render(channel)).toMatchObject({
    master: expect.stringContaining('\nv0.m3u8'),
    media: `${media}#EXT-X-ENDLIST\n`,
  });
});

test('[M-27] renderings of a long recording pause after every 100 segments', async () => {
  const { channel } = record(WINDOW_S);
  await channel.end();
  let reads = 0;
  const presentation = channel.presentation();
  const segments = presentation.segments.map(({ pieces, ...segment }) => ({
    ...segment,
    get pieces() {
      reads++;
      return pieces;
    },
  }));
  for (const render of [hlsMediaPlaylist, hlsMultivariantPlaylist, dashManifest]) {
    const rendering = render({ ...presentation, segments }, 'v0');
    const steps: number[] = [];
    for (let isDone = false; !isDone; ) {
      reads = 0;
      isDone = rendering.next().done === true;
      steps.push(reads);
    }
    expect(Math.max(...steps)).toBeLessThan(500);
  }
});
