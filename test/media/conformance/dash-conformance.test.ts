import { describe, expect, test } from 'bun:test';
import { DashConformance } from '../../support/media/conformance/dash-conformance.ts';
import {
  GeneratedStream,
  type GeneratedStreamOptions,
  steadyTimeline,
} from '../../support/media/conformance/generated-stream.ts';
import { HlsConformance } from '../../support/media/conformance/hls-conformance.ts';
import {
  createInitSegment,
  createRun,
  TRACKS,
  VIDEO,
} from '../../support/media/fragment-fixture.ts';

const OFFSET_MS = 1_795_000_000_250;
const INITS = new Map(TRACKS.map((track) => [track.id, createInitSegment(track)]));

interface Reading {
  readonly text: string;
  readonly nowMs: number;
}

/** A stream of two epochs with a pause; manifests after the first, in the second, after the end. */
function generateStream(options: GeneratedStreamOptions = {}) {
  const stream = new GeneratedStream(options);
  const reading = (): Reading => ({ text: stream.dash(), nowMs: stream.endMs() + 400 });
  stream.begin(TRACKS, INITS, steadyTimeline(OFFSET_MS));
  for (const [id, fragment] of createRun({ fromMs: 0, seconds: 8.5 })) stream.push(id, fragment);
  stream.finish();
  const first = reading();
  stream.begin(TRACKS, INITS, steadyTimeline(OFFSET_MS));
  const run = createRun({ fromMs: 9_233, seconds: 6.7 });
  for (const [id, fragment] of run) stream.push(id, fragment);
  const second = reading();
  stream.finish();
  stream.end();
  return { stream, first, second, ended: reading() };
}

function rulesOf(readings: readonly Reading[], read: GeneratedStream['read']): string[] {
  const conformance = new DashConformance(read);
  const violations = readings.flatMap(({ text, nowMs }) => conformance.check(text, nowMs));
  return [...new Set(violations.map(({ rule }) => rule))];
}

function changed(reading: Reading, pattern: string | RegExp, replacement: string): Reading {
  const text = reading.text.replace(pattern, replacement);
  if (text === reading.text) throw new Error(`no match for ${pattern} in ${text}`);
  return { ...reading, text };
}

describe('no violation is found in', () => {
  test.each<[string, GeneratedStreamOptions]>([
    ['a recording', {}],
    ['a sliding window', { dvrMs: 7_000 }],
    ['low latency', { partMs: 500, dvrMs: 7_000 }],
  ])('[M-11] [M-12] [M-25] no violation is found in %s', (_, options) => {
    const { stream, first, second, ended } = generateStream(options);
    const conformance = new DashConformance(stream.read);
    for (const { text, nowMs } of [first, second, ended]) {
      expect(conformance.check(text, nowMs)).toEqual([]);
    }
  });

  test('[M-12] no violation is found in a timeline with steps of a millisecond', () => {
    const stream = new GeneratedStream();
    const steps = [0, 1, 0, -1, -2, -1];
    let step = 0;
    stream.begin(TRACKS, INITS, {
      advance: () => OFFSET_MS + (steps[step++] ?? 0),
      offsetFor: () => OFFSET_MS,
    });
    for (const [id, fragment] of createRun({ fromMs: 0, seconds: 9 })) stream.push(id, fragment);
    expect(step).toBeGreaterThan(steps.length);
    const reading = { text: stream.dash(), nowMs: stream.endMs() };
    expect(new DashConformance(stream.read).check(reading.text, reading.nowMs)).toEqual([]);
    expect(new HlsConformance(stream.read).check(stream.hls())).toEqual([]);
  });
});

describe('a stream with lost segments', () => {
  const generateLossyStream = () => {
    const { stream, second } = generateStream();
    stream.isEnded = false;
    stream.lose([3, 4, 8, 11]);
    return { stream, second, live: { text: stream.dash(), nowMs: stream.endMs() + 400 } };
  };
  const periodsIn = ({ text }: Reading) =>
    [...text.matchAll(/<Period id="(\S+)"[\s\S]+?startNumber="(\d+)"/g)].map((m) => m.slice(1));

  test('[M-25] [M-29] a stream with lost segments starts after its gaps while live, and has all periods after its end', () => {
    const { stream, second, live } = generateLossyStream();
    const conformance = new DashConformance(stream.read);
    expect(periodsIn(second)).toEqual([
      ['e0', '0'],
      ['e1', '9'],
    ]);
    expect(periodsIn(live)).toEqual([['e1', '12']]);
    expect(conformance.check(live.text, live.nowMs)).toEqual([]);
    stream.end();
    const ended = { ...live, text: stream.dash() };
    expect(periodsIn(ended)).toEqual([
      ['e0', '0'],
      ['e0-5', '5'],
      ['e1', '9'],
      ['e1-12', '12'],
    ]);
    expect(conformance.check(ended.text, ended.nowMs)).toEqual([]);
  });

  test('a stream with lost segments is rejected with wrong period ids or numbers', () => {
    const { stream, live } = generateLossyStream();
    stream.end();
    const ended = { ...live, text: stream.dash() };
    expect(rulesOf([changed(ended, 'id="e0-5"', 'id="e0"')], stream.read)).toContain('period-id');
    expect(rulesOf([changed(ended, 'startNumber="5"', 'startNumber="3"')], stream.read)).toEqual(
      expect.arrayContaining(['segment', 'time']),
    );
  });
});

describe('violations in a single manifest', () => {
  const { stream, second } = generateStream();
  test.each<[string, string | RegExp, string]>([
    ['xml', '</MPD>', ''],
    ['xml', /MPD/g, 'DPM'],
    ['schema', 'schema:mpd:2011', 'schema:mpd:2012'],
    ['type', 'type="dynamic"', 'type="live"'],
    ['profile', 'isoff-live', 'full'],
    ['duration', /minBufferTime="[^"]+"/, 'minBufferTime="1 s"'],
    ['duration', /maxSegmentDuration="[^"]+"/, ''],
    ['availability-start', /availabilityStartTime="[^"]+"/, ''],
    ['publish-time', /publishTime="[^"]+"/, 'publishTime="today"'],
    ['live-attributes', /minimumUpdatePeriod="[^"]+"/, ''],
    ['live-attributes', 'type="dynamic"', 'type="dynamic" mediaPresentationDuration="PT9S"'],
    ['utc-timing', /<UTCTiming[^>]+>/, ''],
    ['utc-timing', 'utc:http-iso:2014', 'utc:http-head:2014'],
    ['order', /(<Period[\s\S]+<\/Period>)\s*(<UTC.*>)/, '$2$1'],
    ['periods', /<Period[\s\S]+<\/Period>/, ''],
    ['period-id', 'id="e1"', 'id="e0"'],
    ['period-start', /(id="e1" start=)"[^"]+"/, '$1"PT5S"'],
    ['period-ends', /(id="e1" start=)"PT(\d+)\d\.[^"]+"/, '$1"PT$22S"'],
    ['period-begins', /presentationTimeOffset="(\d+)"/, 'presentationTimeOffset="9$1"'],
    ['wall-clock', /presentationTimeOffset="(\d+)"/, 'presentationTimeOffset="9$1"'],
    ['representation-id', 'id="v1"', 'id="v0"'],
    ['segment-template', /<SegmentTemplate[\s\S]+?<\/SegmentTemplate>/, ''],
    ['segment-template', '$Number$', '1'],
    ['segment-template', /timescale="\d+"/, 'timescale="1.5"'],
    ['segment-timeline', /<SegmentTimeline>[\s\S]+?<\/SegmentTimeline>/, ''],
    ['segment-timeline', /<S t="\d+" d="\d+"/, '<S t="0" d="-1"'],
    ['segment-timeline', /<S t/, '<X t'],
    ['timeline', /<S (d="\d+"\/>)/, '<S t="999" $1'],
    ['segment-alignment', 'segmentAlignment="true"', ''],
    ['start-with-sap', 'startWithSAP="1"', 'startWithSAP="3"'],
    ['mime-type', 'mimeType="video/mp4"', 'mimeType="video/webm"'],
    ['bandwidth', /bandwidth="\d+"/, 'bandwidth="0"'],
    ['bandwidth', /bandwidth="\d+"/, 'bandwidth="99"'],
    ['codecs', / codecs="[^"]+"/, ''],
    ['codecs', /codecs="[^"]+"/, 'codecs="avc1.64001f"'],
    ['initialization', / initialization="[^"]+"/, ''],
    ['initialization', 'init-1795000000250.mp4', 'init-7.mp4'],
    ['size', 'width="64"', 'width="66"'],
    ['timescale', /timescale="90000"/, 'timescale="48000"'],
    ['segment-duration', /maxSegmentDuration="[^"]+"/, 'maxSegmentDuration="PT0.9S"'],
    ['segment', /startNumber="\d+"/, 'startNumber="99"'],
    ['time', /startNumber="0"/, 'startNumber="1"'],
    ['duration-real', /(<S t="\d+" d)="90000"/, '$1="90200"'],
  ])('a single manifest violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([second], stream.read)).toEqual([]);
    expect(rulesOf([changed(second, pattern, replacement)], stream.read)).toContain(rule);
  });

  test('available, window: segments of the future and before the window', () => {
    const early = { ...second, nowMs: second.nowMs - 2_000 };
    expect(rulesOf([early], stream.read)).toContain('available');
    const window = changed(second, 'minimumUpdate', 'timeShiftBufferDepth="PT4S" minimumUpdate');
    expect(rulesOf([window], stream.read)).toContain('window');
  });

  test('aligned: renditions with other segment times', () => {
    const template = /<SegmentTemplate[\s\S]+?<\/SegmentTemplate>/.exec(second.text)?.[0] ?? '';
    const late = template.replace(/<S t="(\d+)\d{5}"/, '<S t="$1!"').replace('!', '99999');
    const own = changed(second, /(<Representation id="v1"[^>]+)\/>/, `$1>${late}</Representation>`);
    expect(rulesOf([own], stream.read)).toContain('aligned');
  });
});

describe('violations after the end', () => {
  const { stream, second, ended } = generateStream();
  test.each<[string, string | RegExp, string]>([
    ['period-start', 'start="PT0S"', 'start="PT5S"'],
    ['live-attributes', /mediaPresentationDuration="[^"]+"/, ''],
    ['live-attributes', 'type="static"', 'type="static" minimumUpdatePeriod="PT1S"'],
    ['live-attributes', 'type="static"', 'type="static" timeShiftBufferDepth="PT1S"'],
    ['period-ends', /mediaPresentationDuration="[^"]+"/, 'mediaPresentationDuration="PT12S"'],
    ['wall-clock', /availabilityStartTime="[^"]+"/, 'availabilityStartTime="1970-01-01T00:00:00Z"'],
  ])('an ended manifest violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([changed(ended, pattern, replacement)], stream.read)).toContain(rule);
  });

  test('ended: a live manifest after the end', () => {
    expect(rulesOf([ended, second], stream.read)).toContain('ended');
  });
});

describe('violations between two reads', () => {
  const { stream, first, second } = generateStream();
  test.each<[string, string | RegExp, string]>([
    ['availability-start', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'],
    ['publish-time', /publishTime="\d+/, 'publishTime="2001'],
    ['period-moved', /(id="e0" start="PT\d+)/, '$1.7'],
    ['representation-changed', 'width="64"', 'width="66"'],
    ['representation-changed', /bandwidth="\d+"/, 'bandwidth="999999"'],
    ['segment-changed', /(<S t="\d+" d)="90000"/, '$1="90001"'],
    ['segments-back', /r="7"/, 'r="5"'],
  ])('a second manifest violates %s', (rule, pattern, replacement) => {
    expect(rulesOf([first, second], stream.read)).toEqual([]);
    expect(rulesOf([first, changed(second, pattern, replacement)], stream.read)).toContain(rule);
  });
});

test('truncated segments, wrong times and missing key frames are found', () => {
  const { stream, second } = generateStream();
  const rules = (path: string, change: (bytes: Uint8Array) => Uint8Array) =>
    rulesOf([second], (requested) => {
      const bytes = stream.read(requested);
      return requested === path && bytes ? change(bytes.slice()) : bytes;
    });
  expect(rules('v0/1795000000250-3.m4s', (bytes) => bytes.subarray(0, 90))).toContain('segment');
  const moved = (bytes: Uint8Array) => {
    const at = Buffer.from(bytes).indexOf('tfdt') + 12;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  };
  expect(rules('a0/1795000000250-3.m4s', moved)).toContain('time');
  const tail = (bytes: Uint8Array) => bytes.subarray(Buffer.from(bytes).indexOf('moof', 8) - 4);
  expect(rules('v0/1795000000250-3.m4s', tail)).toContain('first-sample-sync');
  expect(
    rules('v0/init-1795000000250.mp4', () => createInitSegment({ ...VIDEO, timescale: 12 })),
  ).toContain('timescale');
});
