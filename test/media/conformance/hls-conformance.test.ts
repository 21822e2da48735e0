import { describe, expect, test } from 'bun:test';
import {
  GeneratedStream,
  type GeneratedStreamOptions,
  steadyTimeline,
} from '../../support/media/conformance/generated-stream.ts';
import {
  HlsConformance,
  type HlsSnapshot,
} from '../../support/media/conformance/hls-conformance.ts';
import { createInitSegment, createRun, TRACKS } from '../../support/media/fragment-fixture.ts';

const OFFSET_MS = 1_795_000_000_000;
const INITS = new Map(TRACKS.map((track) => [track.id, createInitSegment(track)]));

/** A stream of two epochs with a pause; playlists after the first epoch and during the second. */
function generateStream(options: GeneratedStreamOptions = {}) {
  const stream = new GeneratedStream(options);
  stream.begin(TRACKS, INITS, steadyTimeline(OFFSET_MS));
  for (const [id, fragment] of createRun({ fromMs: 0, seconds: 8.5, frames: 1, audioFrames: 1 })) {
    stream.push(id, fragment);
  }
  stream.finish();
  const first = stream.hls();
  stream.begin(TRACKS, INITS, steadyTimeline(OFFSET_MS));
  for (const [id, fragment] of createRun({
    fromMs: 9_200,
    seconds: 6.7,
    frames: 1,
    audioFrames: 1,
  })) {
    stream.push(id, fragment);
  }
  return { stream, first, second: stream.hls() };
}

const rulesOf = (snapshots: readonly HlsSnapshot[], read: GeneratedStream['read']): string[] => {
  const conformance = new HlsConformance(read);
  const violations = snapshots.flatMap((snapshot) => conformance.check(snapshot));
  return [...new Set(violations.map(({ rule }) => rule))];
};

/** Replaces text in one playlist of a snapshot. @param name `master` or a media playlist */
function changed(
  snapshot: HlsSnapshot,
  pattern: string | RegExp,
  replacement: string,
  name = 'v0.m3u8',
): HlsSnapshot {
  const change = (text: string) => {
    const changedText = text.replace(pattern, replacement);
    if (changedText === text) throw new Error(`no match for ${pattern} in ${text}`);
    return changedText;
  };
  if (name === 'master') return { ...snapshot, master: change(snapshot.master) };
  const media = new Map(snapshot.media).set(name, change(snapshot.media.get(name) ?? ''));
  return { ...snapshot, media };
}

describe('no violation is found in', () => {
  test.each<[string, GeneratedStreamOptions]>([
    ['a recording', {}],
    ['a sliding window', { dvrMs: 7_000 }],
    ['low latency', { partMs: 500 }],
    ['low latency in a window', { partMs: 500, dvrMs: 7_000 }],
  ])('[M-11] [M-12] [M-24] no violation is found in %s', (_, options) => {
    const { stream, first, second } = generateStream(options);
    stream.finish();
    stream.end();
    const conformance = new HlsConformance(stream.read);
    for (const snapshot of [first, second, stream.hls()]) {
      expect(conformance.check(snapshot)).toEqual([]);
    }
  });
});

describe('a stream with lost segments', () => {
  const LOST = [3, 4, 8, 11];
  function generateLossyStream(options: GeneratedStreamOptions = {}) {
    const generated = generateStream(options);
    generated.stream.lose(LOST);
    return { ...generated, after: generated.stream.hls() };
  }

  test.each<[string, GeneratedStreamOptions]>([
    ['live', {}],
    ['live with low latency', { partMs: 500 }],
  ])(
    '[M-24] [M-29] a stream with lost segments has gaps while %s and after its end',
    (_, options) => {
      const generated = generateStream(options);
      const conformance = new HlsConformance(generated.stream.read);
      expect(conformance.check(generated.second)).toEqual([]);
      generated.stream.lose(LOST);
      const after = generated.stream.hls();
      expect(after.media.get('v0.m3u8')?.match(/#EXT-X-GAP/g)).toHaveLength(LOST.length);
      expect(conformance.check(after)).toEqual([]);
      generated.stream.finish();
      generated.stream.end();
      expect(conformance.check(generated.stream.hls())).toEqual([]);
    },
  );

  const { stream, second, after } = generateLossyStream();
  test.each<[string, string | RegExp, string]>([
    ['segment', '#EXT-X-GAP\n', ''],
    ['gap', '#EXTINF', '#EXT-X-GAP\n#EXTINF'],
    ['gap-date', ':44.000Z', ':45.000Z'],
    ['gap-date', /(GAP\n#EXTINF:)1/, '$12'],
    ['version', 'VERSION:8', 'VERSION:7'],
  ])('a playlist with gaps violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([after], stream.read)).toEqual([]);
    expect(rulesOf([changed(after, pattern, replacement)], stream.read)).toContain(rule);
  });

  test('segment-changed: a gap that moves or is filled again', () => {
    const other = changed(after, /(GAP\n#EXTINF:\S+\nv0\/\d+)-3/, '$1-33');
    expect(rulesOf([second, other], stream.read)).toContain('segment-changed');
    expect(rulesOf([after, second], stream.read)).toContain('segment-changed');
  });
});

describe('violations in a single playlist', () => {
  const { stream, second } = generateStream();
  const SEGMENT = /#EXT-X-PROGRAM-DATE-TIME:\S+\n#EXTINF:1.000000,\nv0\/1795000000000-3.m4s\n/;
  test.each<[string, string | RegExp, string]>([
    ['extm3u', '#EXTM3U', '#EXTM4U'],
    ['known-tag', '#EXTINF', '#EXT-X-NEWS:1\n#EXTINF'],
    ['version', '#EXT-X-VERSION:7', '#EXT-X-VERSION:5'],
    ['once', '#EXT-X-VERSION:7', '#EXT-X-VERSION:7\n#EXT-X-VERSION:7'],
    ['target-duration', '#EXT-X-TARGETDURATION:1', '#EXT-X-TARGETDURATION:0'],
    ['target-duration', '#EXT-X-TARGETDURATION:1', '#EXT-X-TARGETDURATION:1.5'],
    ['head-first', '#EXTINF', '#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF'],
    ['playlist-type', '#EXT-X-INDEP', '#EXT-X-PLAYLIST-TYPE:SHOW\n#EXT-X-INDEP'],
    ['independent-segments', '#EXT-X-INDEPENDENT-SEGMENTS\n', ''],
    ['program-date-time', /#EXT-X-PROGRAM-DATE-TIME:\S+\n/, ''],
    ['program-date-time', /(DATE-TIME:\S+)\.\d+Z/, '$1Z'],
    ['map', /#EXT-X-MAP:\S+\n/, ''],
    ['map', '#EXT-X-DISCONTINUITY\n', ''],
    ['extinf', /#EXTINF:\S+\n/, ''],
    ['extinf', /#EXTINF:\S+\n/, '#EXTINF:one,\n'],
    ['server-control', 'HOLD-BACK=3.0', 'HOLD-BACK=2.0'],
    ['server-control', 'CAN-SKIP-UNTIL=6.0', 'CAN-SKIP-UNTIL=4.0'],
    ['attributes', 'HOLD-BACK=3.0', 'HOLD-BACK=3.0,HOLD-BACK=4.0'],
    ['attributes', 'HOLD-BACK=3.0', 'hold back=3.0'],
    ['uri', 'v0/1795000000000-2.m4s', 'v0/2 .m4s'],
    ['segment', 'v0/1795000000000-2.m4s', 'v0/1795000000000-99.m4s'],
    ['init', 'v0/init-1795000000000.mp4', 'v0/init-17950000000009.mp4'],
    ['init', 'v0/init-1795000000000.mp4', 'v0/1795000000000-1.m4s'],
    ['date-is-media-time', /DATE-TIME:(\S+)\.000Z/, 'DATE-TIME:$1.002Z'],
    ['extinf-real', 'EXTINF:1.000000', 'EXTINF:1.002000'],
    ['extinf-sum', 'EXTINF:1.000000', 'EXTINF:1.000900'],
    ['timeline', SEGMENT, ''],
    ['renditions-numbers', SEGMENT, ''],
    ['renditions-target', 'TARGETDURATION:1', 'TARGETDURATION:2'],
    ['renditions-end', /$/, '#EXT-X-ENDLIST\n'],
    ['first-sample-sync', 'v0/1795000000000-2.m4s', 'v0/tail.m4s'],
    ['aligned', 'v0/1795000000000-2.m4s', 'v0/1795000000000-3.m4s'],
  ])('a single playlist violates %s', (rule, pattern, replacement) => {
    const read = (path: string) =>
      path === 'v0/tail.m4s'
        ? withoutFirst(stream.read('v0/1795000000000-2.m4s'))
        : stream.read(path);
    expect(rulesOf([second], read)).toEqual([]);
    expect(rulesOf([changed(second, pattern, replacement)], read)).toContain(rule);
  });
});

describe('violations in parts', () => {
  const { stream, second } = generateStream({ partMs: 500 });
  const PART = /#EXT-X-PART:\S+\n/;
  test.each<[string, string | RegExp, string]>([
    ['part-inf', /#EXT-X-PART-INF:\S+\n/, ''],
    ['part-target', /(#EXT-X-PART:DURATION)=[\d.]+/, '$1=0.600'],
    ['part-short', /(#EXT-X-PART:DURATION)=[\d.]+/, '$1=0.300'],
    ['part-sum', /(#EXT-X-PART:DURATION)=[\d.]+/, '$1=0.500'],
    ['part-independent', ',INDEPENDENT=YES', ''],
    ['part-bytes', PART, ''],
    [
      'part-old',
      /v0\/1795000009200-9.m4s\n/,
      'v0/1795000009200-9.m4s\n#EXT-X-PART:DURATION=0.5,URI="v0/1795000009200-10.0.m4s"\n',
    ],
    ['part', /(#EXT-X-PART:DURATION)=[\d.]+/, '$1=none'],
    ['preload-hint', /#EXT-X-PRELOAD-HINT:\S+\n/, ''],
    ['server-control', /,PART-HOLD-BACK=[\d.]+/, ''],
    ['server-control', /,PART-HOLD-BACK=[\d.]+/, ',PART-HOLD-BACK=0.9'],
  ])('a playlist with parts violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([second], stream.read)).toEqual([]);
    expect(rulesOf([changed(second, pattern, replacement)], stream.read)).toContain(rule);
  });

  test('part-duration: in the open segment', () => {
    const open = /(#EXT-X-PART:DURATION=)[\d.]+(,URI="v0\/1795000009200-15\.0)/;
    expect(rulesOf([changed(second, open, '$10.51$2')], stream.read)).toContain('part-duration');
  });
});

describe('violations in delta updates', () => {
  const { stream, second } = generateStream();
  const delta = second.deltas?.get('v0.m3u8') ?? '';
  test.each<[string, string | RegExp, string]>([
    ['skip', /SKIPPED-SEGMENTS=\d+/, 'SKIPPED-SEGMENTS=0'],
    ['skip', /SKIPPED-SEGMENTS=\d+/, 'SKIPPED-SEGMENTS=1'],
    ['skip', /#EXTINF:\S+\n\S+\n/, ''],
  ])('a delta update violates %s', (rule, pattern, replacement) => {
    expect(delta).toContain('#EXT-X-SKIP');
    const deltas = new Map([['v0.m3u8', delta.replace(pattern, replacement)]]);
    expect(rulesOf([{ ...second, deltas }], stream.read)).toContain(rule);
  });
});

describe('violations between two reads', () => {
  const { stream, first, second } = generateStream({ dvrMs: 7_000 });
  const recording = generateStream();
  test.each<[string, string | RegExp, string]>([
    ['target-duration-changed', 'TARGETDURATION:1', 'TARGETDURATION:2'],
    ['server-control-changed', 'HOLD-BACK=3.0', 'HOLD-BACK=3.5'],
    ['playlist-type-changed', '#EXT-X-INDEP', '#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-INDEP'],
    ['media-sequence', /MEDIA-SEQUENCE:\d+/, 'MEDIA-SEQUENCE:0'],
    ['segment-changed', /MEDIA-SEQUENCE:\d+/, 'MEDIA-SEQUENCE:7'],
    ['discontinuity-sequence', 'DISCONTINUITY-SEQUENCE:0', 'DISCONTINUITY-SEQUENCE:1'],
    ['removed-at-the-end', /(#EXT-X-PROG\S+\n#EXTINF:\S+\n\S+\n){5}$/, ''],
    ['too-short', /(#EXT-X-PROG\S+\n#EXTINF:\S+\n\S+\n){5}$/, ''],
  ])('a second playlist violates %s', (rule, pattern, replacement) => {
    const before = rule === 'removed-at-the-end' ? second : first;
    const after = changed(second, pattern, replacement);
    expect(rulesOf([before, second], stream.read)).toEqual([]);
    expect(rulesOf([before, after], stream.read)).toContain(rule);
  });

  test('removals from a recording and changes after the end', () => {
    const { first: whole, second: more, stream: generated } = recording;
    const event = (of: HlsSnapshot) =>
      changed(of, '#EXT-X-INDEP', '#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-INDEP');
    const lost = changed(event(more), /MEDIA-SEQUENCE:0/, 'MEDIA-SEQUENCE:1');
    expect(rulesOf([event(whole), lost], generated.read)).toContain('event-removed');
    expect(rulesOf([whole, event(more)], generated.read)).toContain('playlist-type-changed');
    const ended = changed(whole, /$/, '#EXT-X-ENDLIST\n');
    expect(rulesOf([ended, more], generated.read)).toContain('after-endlist');
    const low = generateStream({ partMs: 500 });
    const other = changed(low.second, /PART-TARGET=[\d.]+/, 'PART-TARGET=0.54');
    expect(rulesOf([low.first, other], low.stream.read)).toContain('part-target-changed');
  });
});

describe('violations in the multivariant playlist', () => {
  const { stream, second } = generateStream();
  test.each<[string, string | RegExp, string]>([
    ['extm3u', '#EXTM3U\n', ''],
    ['variants', 'v0.m3u8', 'v7.m3u8'],
    ['variants', 'v0.m3u8', 'v1.m3u8'],
    ['master-uri', 'v0.m3u8', 'v0.m3u8\nv0.m3u8'],
    ['media', 'URI="a0.m3u8"', 'URI="a1.m3u8"'],
    ['media', ',NAME="Sound"', ''],
    ['audio-group', 'AUDIO="sound"', 'AUDIO="music"'],
    ['bandwidth', /BANDWIDTH=\d+/, 'BANDWIDTH=1000'],
    ['average-bandwidth', /AVERAGE-BANDWIDTH=\d+/, 'AVERAGE-BANDWIDTH=1000'],
    ['codecs', /CODECS="[^"]+"/, 'CODECS="avc1.42c01e"'],
    ['resolution', 'RESOLUTION=64x36', 'RESOLUTION=64x38'],
    ['frame-rate', 'FRAME-RATE=15', 'FRAME-RATE=30'],
  ])('a multivariant playlist violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([changed(second, pattern, replacement, 'master')], stream.read)).toContain(rule);
  });
});

describe('violations in segment bytes', () => {
  const { stream, second } = generateStream();
  const rules = (path: string, change: (bytes: Uint8Array) => Uint8Array) =>
    rulesOf([second], (requested) => {
      const bytes = stream.read(requested);
      return requested === path && bytes ? change(bytes.slice()) : bytes;
    });

  test('truncated, invalid or shifted segments', () => {
    expect(rules('v0/1795000000000-3.m4s', (bytes) => bytes.subarray(0, 100))).toContain('segment');
    expect(
      rules('v0/1795000000000-3.m4s', () => new TextEncoder().encode('<html></html>')),
    ).toContain('segment');
    const late = (bytes: Uint8Array) => {
      const view = new DataView(bytes.buffer);
      const tfdt = Buffer.from(bytes).indexOf('tfdt') + 8;
      view.setBigUint64(tfdt, view.getBigUint64(tfdt) + 9_000n);
      return bytes;
    };
    const violations = rules('a0/1795000000000-3.m4s', late);
    expect(violations).toContain('timeline');
    expect(violations).toContain('date-is-media-time');
    const numbered = (bytes: Uint8Array) => {
      bytes.fill(0, Buffer.from(bytes).indexOf('mfhd') + 8, Buffer.from(bytes).indexOf('traf') - 4);
      return bytes;
    };
    expect(rules('v0/1795000000000-3.m4s', numbered)).toContain('fragment-numbers');
  });
});

/** Removes the first fragment of a segment. */
function withoutFirst(bytes: Uint8Array | null): Uint8Array | null {
  if (!bytes) return null;
  const second = Buffer.from(bytes).indexOf('moof', 8) - 4;
  return bytes.subarray(second);
}
