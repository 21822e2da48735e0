import { describe, expect, test } from 'bun:test';
import { DashConformance } from '../../support/media/conformance/dash-conformance.ts';
import { secondsIn } from '../../support/media/conformance/dash-text.ts';
import { HlsConformance } from '../../support/media/conformance/hls-conformance.ts';
import {
  MadeStream,
  type MadeStreamOptions,
  steady,
} from '../../support/media/conformance/made-stream.ts';
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

/** A stream of two epochs with a pause between, as it is after each of them. */
function madeStream(options: MadeStreamOptions = {}) {
  const stream = new MadeStream(options);
  const reading = (): Reading => ({ text: stream.dash(), nowMs: stream.endMs() + 400 });
  stream.begin(TRACKS, INITS, steady(OFFSET_MS));
  for (const [id, fragment] of createRun({ fromMs: 0, seconds: 8.5 })) stream.push(id, fragment);
  stream.finish();
  const first = reading();
  stream.begin(TRACKS, INITS, steady(OFFSET_MS));
  const run = createRun({ fromMs: 9_233, seconds: 6.7 });
  for (const [id, fragment] of run) stream.push(id, fragment);
  const second = reading();
  stream.finish();
  stream.end();
  return { stream, first, second, ended: reading() };
}

function rulesOf(readings: readonly Reading[], read: MadeStream['read']): string[] {
  const conformance = new DashConformance(read);
  const found = readings.flatMap(({ text, nowMs }) => conformance.check(text, nowMs));
  return [...new Set(found.map(({ rule }) => rule))];
}

function changed(reading: Reading, what: string | RegExp, by: string): Reading {
  const text = reading.text.replace(what, by);
  if (text === reading.text) throw new Error(`nothing to change: ${what} in ${text}`);
  return { ...reading, text };
}

describe('nothing is wrong with', () => {
  test.each<[string, MadeStreamOptions]>([
    ['a recording', {}],
    ['a sliding window', { dvrMs: 7_000 }],
    ['low latency', { partMs: 500, dvrMs: 7_000 }],
  ])('[M-11] [M-12] [M-25] %s', (_, options) => {
    const { stream, first, second, ended } = madeStream(options);
    const conformance = new DashConformance(stream.read);
    for (const { text, nowMs } of [first, second, ended]) {
      expect(conformance.check(text, nowMs)).toEqual([]);
    }
  });

  test('[M-12] a timeline that steps by a millisecond', () => {
    const stream = new MadeStream();
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

describe('a stream that has lost segments', () => {
  const lossy = () => {
    const { stream, second } = madeStream();
    stream.isEnded = false;
    stream.lose([3, 4, 8, 11]);
    return { stream, second, live: { text: stream.dash(), nowMs: stream.endMs() + 400 } };
  };
  const periodsIn = ({ text }: Reading) =>
    [...text.matchAll(/<Period id="(\S+)"[\s\S]+?startNumber="(\d+)"/g)].map((m) => m.slice(1));

  test('[M-25] [M-29] goes on after its gaps while it is live, and is all of it after its end', () => {
    const { stream, second, live } = lossy();
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

  test('is seen when it says otherwise', () => {
    const { stream, live } = lossy();
    stream.end();
    const ended = { ...live, text: stream.dash() };
    expect(rulesOf([changed(ended, 'id="e0-5"', 'id="e0"')], stream.read)).toContain('period-id');
    expect(rulesOf([changed(ended, 'startNumber="5"', 'startNumber="3"')], stream.read)).toEqual(
      expect.arrayContaining(['segment', 'time']),
    );
  });
});

describe('a manifest by itself', () => {
  const { stream, second } = madeStream();
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
  ])('%s', (rule, what, by) => {
    expect(rulesOf([second], stream.read)).toEqual([]);
    expect(rulesOf([changed(second, what, by)], stream.read)).toContain(rule);
  });

  test('available, window: it names what there is, and not more', () => {
    const early = { ...second, nowMs: second.nowMs - 2_000 };
    expect(rulesOf([early], stream.read)).toContain('available');
    const window = changed(second, 'minimumUpdate', 'timeShiftBufferDepth="PT4S" minimumUpdate');
    expect(rulesOf([window], stream.read)).toContain('window');
  });

  test('aligned: renditions have segments of the same numbers at the same times', () => {
    const template = /<SegmentTemplate[\s\S]+?<\/SegmentTemplate>/.exec(second.text)?.[0] ?? '';
    const late = template.replace(/<S t="(\d+)\d{5}"/, '<S t="$1!"').replace('!', '99999');
    const own = changed(second, /(<Representation id="v1"[^>]+)\/>/, `$1>${late}</Representation>`);
    expect(rulesOf([own], stream.read)).toContain('aligned');
  });
});

describe('after the end', () => {
  const { stream, second, ended } = madeStream();
  test.each<[string, string | RegExp, string]>([
    ['period-start', 'start="PT0S"', 'start="PT5S"'],
    ['live-attributes', /mediaPresentationDuration="[^"]+"/, ''],
    ['live-attributes', 'type="static"', 'type="static" minimumUpdatePeriod="PT1S"'],
    ['live-attributes', 'type="static"', 'type="static" timeShiftBufferDepth="PT1S"'],
    ['period-ends', /mediaPresentationDuration="[^"]+"/, 'mediaPresentationDuration="PT12S"'],
    ['wall-clock', /availabilityStartTime="[^"]+"/, 'availabilityStartTime="1970-01-01T00:00:00Z"'],
  ])('%s', (rule, what, by) => {
    expect(rulesOf([changed(ended, what, by)], stream.read)).toContain(rule);
  });

  test('ended: nothing comes any more', () => {
    expect(rulesOf([ended, second], stream.read)).toContain('ended');
  });
});

describe('from one reading to the next', () => {
  const { stream, first, second } = madeStream();
  test.each<[string, string | RegExp, string]>([
    ['availability-start', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z'],
    ['publish-time', /publishTime="\d+/, 'publishTime="2001'],
    ['period-moved', /(id="e0" start="PT\d+)/, '$1.7'],
    ['representation-changed', 'width="64"', 'width="66"'],
    ['representation-changed', /bandwidth="\d+"/, 'bandwidth="999999"'],
    ['segment-changed', /(<S t="\d+" d)="90000"/, '$1="90001"'],
    ['segments-back', /r="7"/, 'r="5"'],
  ])('%s', (rule, what, by) => {
    expect(rulesOf([first, second], stream.read)).toEqual([]);
    expect(rulesOf([first, changed(second, what, by)], stream.read)).toContain(rule);
  });
});

test('bytes that are no segment, have another time or no key frame are seen', () => {
  const { stream, second } = madeStream();
  const rules = (path: string, change: (bytes: Uint8Array) => Uint8Array) =>
    rulesOf([second], (asked) => {
      const bytes = stream.read(asked);
      return asked === path && bytes ? change(bytes.slice()) : bytes;
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

test('durations are read as XML Schema writes them', () => {
  expect(['PT1S', 'P1DT2H3M4.5S', 'PT0.25S'].map(secondsIn)).toEqual([1, 93_784.5, 0.25]);
  for (const text of [undefined, '', 'P', 'PT', '1S', 'PT1', 'PT-1S'])
    expect(secondsIn(text)).toBeNaN();
});
