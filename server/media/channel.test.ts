import { expect, test } from 'bun:test';
import { FakeShelf, MEDIA_CONFIG } from '../../test/support/media/channels-fixture.ts';
import { BEGIN_MS, bytesOf, settled } from '../../test/support/media/packager-fixture.ts';
import { Channel, targetLatencyMs, PART_MS } from './channel.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import type { Part, TrackBytes, Segment } from './segment.ts';

const PIECE = { startTicks: 0, durationTicks: 90_000, byteLength: 3 };
const pieces = new Map([['v0', PIECE]]);

function segment(seq: number, epoch = 0): [Segment, TrackBytes] {
  const startMs = BEGIN_MS + seq * 1_000;
  return [
    { seq, epoch, startMs, durationMs: 1_000, pieces },
    new Map([['v0', bytesOf(`segment ${seq}`)]]),
  ];
}

function part(index: number, text: string): [Part, TrackBytes] {
  return [{ index, isIndependent: index === 0, pieces }, new Map([['v0', bytesOf(text)]])];
}

function newChannel(config: Partial<MediaConfig> = {}, hasEnded = false) {
  const shelf = new FakeShelf();
  const channel = new Channel('one', shelf, { ...MEDIA_CONFIG, ...config }, hasEnded);
  const failures: string[] = [];
  const output = channel.sink(({ line }) => void failures.push(line));
  return { shelf, channel, output, failures };
}

/** Of the first epoch. */
const NAME = BEGIN_MS;

const textOf = (bytes: Uint8Array | Blob | null) =>
  bytes === null ? null : new TextDecoder().decode(bytes as Uint8Array);
const epoch = (number: number) => ({
  number,
  tracks: [],
  startMs: BEGIN_MS + number * 1_000,
  inits: new Map([['v0', bytesOf(`init ${number}`)]]),
});

test('[M-11] the next epoch and segment go on where the last ended, in number and in time', () => {
  const { output } = newChannel();
  expect(output.next()).toEqual({ epoch: 0, seq: 0, notBeforeMs: 0 });
  output.epoch(epoch(0));
  output.segment(...segment(0));
  output.segment(...segment(1));
  expect(output.next()).toEqual({ epoch: 1, seq: 2, notBeforeMs: BEGIN_MS + 2_000 });
});

test('[M-30] who waits for what comes is told of each segment and part, and of the end', async () => {
  const { channel, output } = newChannel({ latency: 'low' });
  const heard: string[] = [];
  const wait = (name: string) => {
    void channel.waitForChange(channel.presentation().version).then(() => heard.push(name));
  };
  const happens = async (name: string, what: () => unknown) => {
    wait(name);
    await settled();
    expect(heard).not.toContain(name);
    await what();
    await settled();
    expect(heard).toContain(name);
  };
  await happens('segment', () => output.segment(...segment(0)));
  await happens('part', () => output.part(1, ...part(0, 'a part')));
  await happens('end', () => channel.end());
  // What has happened is not waited for.
  await channel.waitForChange(0);
});

test('what is ended stays so, and its shelf is closed once', async () => {
  const { channel, shelf } = newChannel();
  await channel.end();
  expect(shelf.closed).toEqual({ isEnded: true });
  shelf.closed = null;
  const { version } = channel.presentation();
  await channel.end();
  expect(shelf.closed).toBeNull();
  expect(channel.presentation()).toMatchObject({ isEnded: true, version });
  expect(newChannel({}, true).channel.presentation().isEnded).toBe(true);
});

test('[M-30] parts of the newest segments can be read, and those before leave', () => {
  const { channel, output } = newChannel({ latency: 'low' });
  output.epoch(epoch(0));
  for (let seq = 0; seq < 12; seq++) {
    output.part(seq, ...part(0, `${seq}.0`));
    output.part(seq, ...part(1, `${seq}.1`));
    output.segment(...segment(seq));
  }
  const { parts, partMs } = channel.presentation();
  expect(partMs).toBe(PART_MS);
  expect([...parts.keys()]).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  expect(textOf(channel.part(NAME, 11, 1, 'v0'))).toBe('11.1');
  expect(channel.part(NAME, 3, 0, 'v0')).toBeNull();
  expect(channel.part(NAME, 11, 2, 'v0')).toBeNull();
  expect(textOf(channel.segment(NAME, 3, 'v0'))).toBe('segment 3');
});

test('[M-40] parts of a segment that came to nothing are not those of the one that has its number', () => {
  const { channel, output } = newChannel({ latency: 'low' });
  output.epoch(epoch(0));
  output.part(0, ...part(0, 'of the encoder that crashed'));
  output.epoch(epoch(1));
  expect(channel.presentation().parts.get(0)).toBeUndefined();
  output.part(0, ...part(0, 'of the next'));
  expect(channel.presentation().parts.get(0)).toHaveLength(1);
  expect(textOf(channel.part(BEGIN_MS + 1_000, 0, 0, 'v0'))).toBe('of the next');
  expect(channel.part(NAME, 0, 0, 'v0')).toBeNull();
});

test('inits are found by their epoch', () => {
  const { channel, output } = newChannel();
  output.epoch(epoch(0));
  output.epoch(epoch(1));
  expect(textOf(channel.init(BEGIN_MS + 1_000, 'v0'))).toBe('init 1');
  expect([channel.init(BEGIN_MS + 1_000, 'v9'), channel.init(1, 'v0')]).toEqual([null, null]);
});

test('[M-26] [M-27] one can go back to the beginning of a recording, and in another so far', () => {
  const { channel } = newChannel();
  channel.setRetention('recording');
  expect(channel.presentation().dvrMs).toBeNull();
  channel.setRetention('dvr');
  expect(channel.presentation().dvrMs).toBe(MEDIA_CONFIG.dvrMs);
});

test('[M-14] players are told to stay under 5 s by default, and under 3 s with low latency', () => {
  const normalMs = targetLatencyMs(MEDIA_CONFIG);
  const lowMs = targetLatencyMs({ ...MEDIA_CONFIG, latency: 'low' });
  // What encoding and the network take comes on top of that.
  expect(normalMs).toBeLessThanOrEqual(4_000);
  expect(lowMs).toBeLessThanOrEqual(2_500);
  // A player needs two segments to go on smoothly.
  expect(lowMs).toBeGreaterThanOrEqual(MEDIA_CONFIG.segmentMs + 2 * PART_MS);
  expect(normalMs).toBeGreaterThanOrEqual(2 * MEDIA_CONFIG.segmentMs);
  expect(newChannel().channel.presentation().partMs).toBeNull();
});

test('[M-16] a source of which nothing can be made is told why', () => {
  const { output, failures } = newChannel();
  output.failed({ why: 'not-understood', line: 'it holds no picture' });
  expect(failures).toEqual(['it holds no picture']);
});
