import { heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { AUDIO, TRACKS, VIDEO } from '../../../test/support/media/fragment-fixture.ts';
import {
  manifestText,
  masterPlaylistText,
  mediaPlaylistText,
} from '../../../test/support/media/playlist-texts.ts';
import type { Epoch, Part, Piece, Presentation, Segment, Track, TrackId } from '../segment.ts';
import { PERIODS_MAX } from './dash-manifest.ts';
import { longestPartMs, longestSegmentMs, targetDurationS } from './target-duration.ts';

const BEGIN_MS = Date.UTC(2026, 10, 20, 16, 0, 0);

function pieces(
  tracks: readonly Track[],
  startMs: number,
  durationMs: number,
): Map<TrackId, Piece> {
  return new Map(
    tracks.map(({ id, timescale }) => {
      const startTicks = Math.round((startMs * timescale) / 1_000);
      const durationTicks = Math.round((durationMs * timescale) / 1_000);
      return [id, { startTicks, durationTicks, byteLength: id === 'v0' ? 20_000 : 5_000 }];
    }),
  );
}

function segment(seq: number, epoch: number, startMs: number, tracks = TRACKS): Segment {
  const durationMs = 1_000;
  return { seq, epoch, startMs, durationMs, pieces: pieces(tracks, startMs, durationMs) };
}

function epoch(number: number, startMs: number, tracks = TRACKS): Epoch {
  return { number, startMs, tracks, inits: new Map() };
}

function presentation(change: Partial<Presentation> = {}): Presentation {
  return {
    version: 1,
    epochs: [epoch(3, BEGIN_MS - 60_000), epoch(4, BEGIN_MS + 2_500)],
    segments: [
      segment(70, 3, BEGIN_MS),
      segment(71, 3, BEGIN_MS + 1_000),
      segment(72, 4, BEGIN_MS + 2_500),
    ],
    parts: new Map(),
    isEnded: false,
    reopenedMs: null,
    segmentMs: 1_000,
    partMs: null,
    latencyMs: 4_000,
    dvrMs: 7_200_000,
    ...change,
  };
}

const part = (index: number, startMs: number, durationMs: number): Part => ({
  index,
  isIndependent: index === 0,
  pieces: pieces(TRACKS, startMs, durationMs),
});

describe('[M-24] media playlist', () => {
  test('the HLS media playlist lists the segments of the DVR window', () => {
    expect(mediaPlaylistText(presentation(), 'v1')).toBe(`#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:1
#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=6.0,HOLD-BACK=3.0
#EXT-X-MEDIA-SEQUENCE:70
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MAP:URI="v1/init-1795190340000.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T16:00:00.000Z
#EXTINF:1.000000,
v1/1795190340000-70.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T16:00:01.000Z
#EXTINF:1.000000,
v1/1795190340000-71.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="v1/init-1795190402500.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T16:00:02.500Z
#EXTINF:1.000000,
v1/1795190402500-72.m4s
`);
  });

  test('the HLS media playlist has parts, a preload hint and rendition reports with low latency', () => {
    const parts = new Map([
      [72, [part(0, BEGIN_MS + 2_500, 533), part(1, BEGIN_MS + 3_033, 467)]],
      [73, [part(0, BEGIN_MS + 3_500, 533)]],
    ]);
    const text = mediaPlaylistText(presentation({ partMs: 500, parts }), 'a0') ?? '';
    const [head = '', tail = ''] = text.split('#EXT-X-DISCONTINUITY\n');
    expect(head).toStartWith(`#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:1
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=6.0,HOLD-BACK=3.0,PART-HOLD-BACK=1.680
#EXT-X-MEDIA-SEQUENCE:70
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-PART-INF:PART-TARGET=0.56
`);
    expect(tail).toBe(`#EXT-X-MAP:URI="a0/init-1795190402500.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T16:00:02.500Z
#EXT-X-PART:DURATION=0.533000,URI="a0/1795190402500-72.0.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.467000,URI="a0/1795190402500-72.1.m4s",INDEPENDENT=YES
#EXTINF:1.000000,
a0/1795190402500-72.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T16:00:03.500Z
#EXT-X-PART:DURATION=0.533000,URI="a0/1795190402500-73.0.m4s",INDEPENDENT=YES
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="a0/1795190402500-73.1.m4s"
#EXT-X-RENDITION-REPORT:URI="v0.m3u8",LAST-MSN=73,LAST-PART=0
#EXT-X-RENDITION-REPORT:URI="v1.m3u8",LAST-MSN=73,LAST-PART=0
`);
  });

  test('HOLD-BACK follows the target latency', () => {
    const text = mediaPlaylistText(presentation({ latencyMs: 8_000 }), 'v0');
    expect(text).toContain(',HOLD-BACK=7.0\n');
  });

  test('the preload hint names the next segment when the open segment has all its parts', () => {
    const parts = new Map([[73, [part(0, BEGIN_MS + 3_500, 533), part(1, BEGIN_MS + 4_033, 467)]]]);
    const text = mediaPlaylistText(presentation({ partMs: 500, parts }), 'v0');
    expect(text).toContain('#EXT-X-PRELOAD-HINT:TYPE=PART,URI="v0/1795190402500-74.0.m4s"');
    expect(text).not.toContain('v0/1795190402500-73.1.m4s",INDEPENDENT');
  });

  test('the HLS media playlist has parts before the first segment is complete', () => {
    const parts = new Map([[0, [part(0, BEGIN_MS, 500)]]]);
    const onlyParts = { partMs: 500, parts, segments: [], epochs: [epoch(0, BEGIN_MS)] };
    const text = mediaPlaylistText(presentation(onlyParts), 'v0') ?? '';
    expect(text).toContain('#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-DISCONTINUITY-SEQUENCE:0\n');
    expect(text).toContain('#EXT-X-MAP:URI="v0/init-1795190400000.mp4"\n#EXT-X-PROGRAM');
    expect(mediaPlaylistText(presentation({ ...onlyParts, parts: new Map() }), 'v0')).toBeNull();
  });

  test('the HLS media playlist ends with EXT-X-ENDLIST and without parts', () => {
    const parts = new Map([[73, [part(0, BEGIN_MS + 3_500, 500)]]]);
    const ended = presentation({ isEnded: true, partMs: 500, parts });
    const text = mediaPlaylistText(ended, 'v0', true);
    expect(text).toEndWith('v0/1795190402500-72.m4s\n#EXT-X-ENDLIST\n');
    expect(text).not.toMatch(/#EXT-X-PART:|PRELOAD|SKIP:/);
  });

  test('[M-27] a recording has no playlist type, because segments may be evicted', () => {
    const recording = { dvrMs: null, segments: [segment(0, 4, BEGIN_MS)] };
    for (const isEnded of [false, true]) {
      expect(mediaPlaylistText(presentation({ ...recording, isEnded }), 'v0')).not.toContain(
        'PLAYLIST-TYPE',
      );
    }
  });

  test('a delta update omits old segments', () => {
    const segments = Array.from({ length: 20 }, (_, i) =>
      segment(i, i < 15 ? 3 : 4, BEGIN_MS + i * 1_000),
    );
    const text = mediaPlaylistText(presentation({ segments }), 'v0', true) ?? '';
    expect(text).toContain('#EXT-X-VERSION:9\n');
    expect(text).toContain('#EXT-X-SKIP:SKIPPED-SEGMENTS=14\n#EXT-X-PROGRAM-DATE-TIME');
    expect(text).toContain(
      'v0/1795190340000-14.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="v0/init-1795190402500.mp4"',
    );
    expect(text.match(/#EXTINF/g)).toHaveLength(6);
    const few = { segments: segments.slice(0, 6) };
    expect(mediaPlaylistText(presentation(few), 'v0', true)).not.toContain('#EXT-X-SKIP');
  });

  test('the HLS media playlist counts each epoch as a discontinuity, also one without segments', () => {
    const segments = [segment(70, 3, BEGIN_MS), segment(71, 5, BEGIN_MS + 3_000)];
    const epochs = [epoch(3, BEGIN_MS), epoch(5, BEGIN_MS + 3_000)];
    expect(mediaPlaylistText(presentation({ segments, epochs }), 'v0')).toContain(
      'v0/1795190400000-70.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP',
    );
  });

  test('the HLS media playlist has gaps for epochs without the rendition, and is null for an unknown one', () => {
    const withV2 = [...TRACKS, { ...VIDEO, id: 'v2' }];
    const text = mediaPlaylistText(
      presentation({
        epochs: [epoch(3, BEGIN_MS), epoch(4, BEGIN_MS + 1_000, withV2)],
        segments: [segment(0, 3, BEGIN_MS), segment(1, 4, BEGIN_MS + 1_000, withV2)],
      }),
      'v2',
    );
    expect(text).toContain(
      '#EXT-X-GAP\n#EXTINF:1.000000,\nv2/1795190400000-0.m4s\n#EXT-X-DISCONTINUITY\n',
    );
    expect(mediaPlaylistText(presentation(), 'v9')).toBeNull();
  });
});

describe('[M-24] multivariant playlist', () => {
  test('the HLS multivariant playlist lists renditions and audio with their bandwidth', () => {
    expect(masterPlaylistText(presentation())).toBe(`#EXTM3U
#EXT-X-VERSION:7
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Sound",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="a0.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=500000,AVERAGE-BANDWIDTH=200000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=64x36,FRAME-RATE=15.000,AUDIO="sound"
v0.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=300000,AVERAGE-BANDWIDTH=80000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=32x18,FRAME-RATE=15.000,AUDIO="sound"
v1.m3u8
`);
  });

  test('the HLS multivariant playlist exists before the first segment, but not before the first epoch', () => {
    expect(masterPlaylistText(presentation({ segments: [] }))).toContain('BANDWIDTH=500000,CODECS');
    expect(masterPlaylistText(presentation({ epochs: [] }))).toBeNull();
  });

  test('BANDWIDTH is the measured peak when that is above the bandwidth that the encoder is set to', () => {
    const tracks = [{ ...VIDEO, bandwidth: 1_000 }, AUDIO];
    const epochs = [epoch(3, BEGIN_MS, tracks), epoch(4, BEGIN_MS, tracks)];
    expect(masterPlaylistText(presentation({ epochs }))).toContain(
      ':BANDWIDTH=260000,AVERAGE', // v0: 160,000 bit/s measured; a0: 100,000 set
    );
  });
});

describe('[M-25] DASH manifest', () => {
  const lines = (text: string | null, pattern: RegExp) => text?.match(pattern);

  test('[M-25] a recording, which keeps its segments, keeps one text of each Period', () => {
    const irregular = (seq: number): Segment => {
      const made = segment(seq, 3, BEGIN_MS + seq * 1_000);
      const pieces = [...made.pieces].map(([id, piece]): [TrackId, Piece] => [
        id,
        { ...piece, durationTicks: piece.durationTicks + (seq % 2) },
      ]);
      return { ...made, pieces: new Map(pieces) };
    };
    const segments = Array.from({ length: 1_500 }, (_, seq) => irregular(seq));
    const epochs = [epoch(3, BEGIN_MS)];
    const render = (from: number) =>
      manifestText(presentation({ epochs, segments: segments.slice(from, from + 1_000) }));
    const { length } = render(0) ?? '';
    Bun.gc(true);
    const before = heapStats().heapSize;
    for (let from = 1; from < 500; from++) render(from);
    Bun.gc(true);
    expect(segments.length).toBe(1_500);
    expect(heapStats().heapSize - before).toBeLessThan(100 * length);
  });

  test('[M-25] a manifest renders again only the Periods that changed', () => {
    let rendered: number[] = [];
    const counted = (number: number) =>
      TRACKS.map((track) => ({
        ...track,
        get codec() {
          if (track.id === 'v0') rendered.push(number);
          return track.codec;
        },
      }));
    const epochs = [1, 2, 3].map((number) => ({
      ...epoch(number, BEGIN_MS + number * 2_000),
      tracks: counted(number),
    }));
    const segments = epochs.flatMap(({ number, startMs }) => [
      segment(2 * number, number, startMs),
      segment(2 * number + 1, number, startMs + 1_000),
    ]);
    const render = (from: number, to: number, isEnded = false) => {
      rendered = [];
      return manifestText(presentation({ epochs, segments: segments.slice(from, to), isEnded }));
    };
    const first = render(0, 5);
    expect([render(0, 5), rendered]).toEqual([first, []]);
    render(0, 6);
    expect(rendered).toEqual([3]);
    render(1, 6);
    expect(rendered).toEqual([1]);
    expect(render(0, 6, true)).toContain('<Period id="e1" start="PT0S">');
    expect([render(0, 5), rendered]).toEqual([first, [1, 2, 3]]);
  });

  test('[M-25] a manifest lists only the newest Periods of a source that reconnected too often', () => {
    const epochs = Array.from({ length: PERIODS_MAX + 3 }, (_, number) =>
      epoch(number, BEGIN_MS + number * 3_000),
    );
    const segments = epochs.map(({ number, startMs }) => segment(number, number, startMs));
    for (const isEnded of [false, true]) {
      const text = manifestText(presentation({ epochs, segments, isEnded }));
      const starts = lines(text, /<Period id="\w+"/g) ?? [];
      expect([starts.length, starts[0]]).toEqual([PERIODS_MAX, '<Period id="e3"']);
    }
    const ended = manifestText(presentation({ epochs, segments, isEnded: true }));
    expect(ended).toContain('<Period id="e3" start="PT0S">');
    expect(ended).toContain(`mediaPresentationDuration="PT${(PERIODS_MAX - 1) * 3 + 1}S"`);
    expect(ended).toContain('availabilityStartTime="2026-11-20T16:00:09.000Z"');
  });

  test('the DASH manifest is dynamic during the stream', () => {
    expect(manifestText(presentation())).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" availabilityStartTime="1970-01-01T00:00:00.000Z" publishTime="2026-11-20T16:00:03.500Z" minimumUpdatePeriod="PT1S" suggestedPresentationDelay="PT2.6S" timeShiftBufferDepth="PT7200S" minBufferTime="PT1S" maxSegmentDuration="PT1.4S">
${period(3, 'PT1795190340S', BEGIN_MS - 60_000, 70, BEGIN_MS, 1)}
${period(4, 'PT1795190402.5S', BEGIN_MS + 2_500, 72, BEGIN_MS + 2_500, 0)}
<UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="../../api/v1/time?format=iso"/>
</MPD>
`);
  });

  test('[M-14] with low latency, players read the manifest again after each part', () => {
    const text = manifestText({ ...presentation(), partMs: 334 });
    expect(text).toContain('minimumUpdatePeriod="PT0.334S"');
  });

  function period(
    number: number,
    start: string,
    epochStartMs: number,
    seq: number,
    startMs: number,
    repeats: number,
  ): string {
    const template = (
      rate: number,
    ) => `<SegmentTemplate timescale="${rate * 1_000}" presentationTimeOffset="${epochStartMs * rate}" startNumber="${seq}" initialization="$RepresentationID$/init-${epochStartMs}.mp4" media="$RepresentationID$/${epochStartMs}-$Number$.m4s">
<SegmentTimeline>
<S t="${startMs * rate}" d="${rate * 1_000}"${repeats > 0 ? ` r="${repeats}"` : ''}/>
</SegmentTimeline>
</SegmentTemplate>`;
    return `<Period id="e${number}" start="${start}">
<AdaptationSet id="0" contentType="video" mimeType="video/mp4" segmentAlignment="true" startWithSAP="1">
<Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
${template(90)}
<Representation id="v0" codecs="avc1.42c01e" bandwidth="400000" width="64" height="36" frameRate="15" sar="1:1"/>
<Representation id="v1" codecs="avc1.42c01e" bandwidth="200000" width="32" height="18" frameRate="15" sar="1:1"/>
</AdaptationSet>
<AdaptationSet id="1" contentType="audio" mimeType="audio/mp4" segmentAlignment="true" startWithSAP="1">
<Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
${template(48)}
<Representation id="a0" codecs="mp4a.40.2" bandwidth="100000" audioSamplingRate="48000">
<AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>
</Representation>
</AdaptationSet>
</Period>`;
  }

  test.each([500, 559, 800, 1_000, 2_000, 6_000])(
    'the DASH manifest has a suggestedPresentationDelay of at least one segment of %d ms',
    (segmentMs) => {
      for (const latencyMs of [2.5 * segmentMs, 4 * segmentMs]) {
        const text = manifestText(presentation({ segmentMs, latencyMs })) ?? '';
        const [, delay] = /suggestedPresentationDelay="PT([\d.]+)S"/.exec(text) ?? [];
        expect(Number(delay) * 1_000).toBeGreaterThanOrEqual(segmentMs);
      }
    },
  );

  test('the DASH manifest is static after the end, with its start as availabilityStartTime', () => {
    const text = manifestText(presentation({ isEnded: true }));
    expect(text).toContain('type="static" availabilityStartTime="2026-11-20T16:00:00.000Z"');
    expect(text).toContain('mediaPresentationDuration="PT3.5S"');
    expect(lines(text, /<Period .*>/g)).toEqual([
      '<Period id="e3" start="PT0S">',
      '<Period id="e4" start="PT2.5S">',
    ]);
    expect(text).toContain(`presentationTimeOffset="${BEGIN_MS * 90}"`);
    expect(text).not.toMatch(/UTCTiming|minimumUpdatePeriod|timeShiftBufferDepth|suggested/);
  });

  test('the DASH manifest has no time shift buffer for a recording, and a latency target with low latency', () => {
    const text = manifestText(presentation({ dvrMs: null, partMs: 500, latencyMs: 2_500 }));
    expect(text).not.toContain('timeShiftBufferDepth');
    expect(text).toContain('<Latency target="2500"/>\n<PlaybackRate min="0.96" max="1.04"/>');
  });

  test('the DASH manifest has separate timelines for renditions that differ, and merges repeated durations', () => {
    const [first, second] = presentation().segments as [Segment, Segment];
    const shifted = new Map(second.pieces);
    const { startTicks, ...rest } = shifted.get('v1') as Piece;
    shifted.set('v1', { startTicks: startTicks + 30, ...rest });
    const segments = [first, { ...second, pieces: shifted }];
    const text = manifestText(presentation({ segments }));
    expect(lines(text, /<S .*>/g)).toEqual([
      `<S t="${BEGIN_MS * 90}" d="90000" r="1"/>`,
      `<S t="${BEGIN_MS * 90}" d="90000"/>`,
      `<S t="${BEGIN_MS * 90 + 90_030}" d="90000"/>`,
      `<S t="${BEGIN_MS * 48}" d="48000" r="1"/>`,
    ]);
  });

  test('the DASH manifest keeps the microseconds of an epoch start and escapes attributes', () => {
    const tracks = [{ ...VIDEO, codec: '<"&\'>', frameRate: [30_000, 1_001] as const }];
    const startMs = BEGIN_MS + 1 / 3;
    const epochs = [{ number: 3, startMs, tracks, inits: new Map() }];
    const segments = [segment(70, 3, startMs, tracks)];
    const text = manifestText(presentation({ epochs, segments }));
    expect(text).toContain('start="PT1795190400.000333S"');
    expect(text).toContain('frameRate="30000/1001"');
    expect(text).toContain('codecs="&lt;&quot;&amp;&apos;&gt;"');
    expect(manifestText(presentation({ segments: [] }))).toBeNull();
  });
});

test('[M-24] longest segments round to EXT-X-TARGETDURATION, and PART-TARGET has a margin', () => {
  expect([500, 1_000, 1_001, 2_000].map(targetDurationS)).toEqual([1, 1, 2, 2]);
  for (const segmentMs of [500, 1_000, 1_500, 2_000, 4_000]) {
    const longestS = longestSegmentMs(segmentMs) / 1_000;
    expect(Math.round(longestS)).toBeLessThanOrEqual(targetDurationS(segmentMs));
    expect(longestS).toBeGreaterThan(segmentMs / 1_000);
  }
  expect(longestPartMs(500)).toBe(560);
});
