import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import {
  type Epoch,
  isGap,
  type Segment,
  type Track,
  type TrackBytes,
} from '../../../server/media/segment.ts';
import type { StreamSegments } from '../../../server/media/store/segment-store.ts';
import {
  FileSegmentStore,
  type FileSegmentStoreOptions,
} from '../../../server/media/store/segment-store-files.ts';
import type { FileStreamSegments } from '../../../server/media/store/stream-segments-files.ts';

/** Service time at which the tests start, Unix ms (November 2026). */
export const BEGIN_MS = 1_795_000_000_000;
export const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
export const TRACKS: readonly Track[] = [
  {
    id: 'v0',
    kind: 'video',
    codec: 'avc1.64001f',
    timescale: 15360,
    bandwidth: 1_000_000,
    width: 192,
    height: 108,
    frameRate: [15, 1],
  },
  {
    id: 'a0',
    kind: 'audio',
    codec: 'mp4a.40.2',
    timescale: 48000,
    bandwidth: 128_000,
    sampleRate: 48000,
    channels: 2,
  },
];

const MINUTE_MS = 60_000;

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [name: string]: unknown;
}

/** A logger that records its lines. */
export function recordingLogger(level = 'info') {
  const lines: LogLine[] = [];
  const logger = pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

export interface Fixture {
  readonly directory: string;
  readonly lines: LogLine[];
  readonly clock: { nowMs: number };
  /** Opens a store on the directory, as a new process does. Does not sweep on its own. */
  start(options?: Partial<FileSegmentStoreOptions>): Promise<FileSegmentStore>;
  /** The files of a stream, sorted by the numbers in their names. */
  files(streamId: string): Promise<string[]>;
}

const openFixtures: Fixture[] = [];

/** Creates a fixture in a new temporary directory. */
export async function createFixture(
  options: Partial<FileSegmentStoreOptions> = {},
): Promise<Fixture> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'segments-')));
  const { logger, lines } = recordingLogger();
  const clock = { nowMs: BEGIN_MS };
  const fixture: Fixture = {
    directory,
    lines,
    clock,
    async start(startOptions) {
      const store = new FileSegmentStore({
        directory,
        dvrMs: 10 * MINUTE_MS,
        spaceBytes: 1 << 30,
        minFreeBytes: 0,
        nowMs: () => clock.nowMs,
        isRecording: async () => null,
        logger,
        ...options,
        ...startOptions,
      });
      await store.scan();
      return store;
    },
    async files(streamId) {
      const names = await readdir(join(directory, streamId)).catch(() => []);
      return names.sort(new Intl.Collator('en', { numeric: true }).compare);
    },
  };
  openFixtures.push(fixture);
  return fixture;
}

/** Opens `STREAM` in a new fixture and starts its first epoch. */
export async function startStream(options: Partial<FileSegmentStoreOptions> = {}) {
  const fixture = await createFixture(options);
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  return { fixture, store, segments };
}

/** Removes the directories of all fixtures. Call after each test. */
export async function removeFixtures(): Promise<void> {
  for (const { directory } of openFixtures.splice(0))
    await rm(directory, { recursive: true, force: true });
}

export function epochOf(number: number): Epoch {
  return {
    number,
    startMs: BEGIN_MS,
    tracks: TRACKS,
    inits: new Map([
      ['v0', new Uint8Array([1, 2, 3, number])],
      ['a0', new Uint8Array([4, 5, number])],
    ]),
  };
}

/** A segment of 1 s; its bytes identify its number. @param videoBytes size of the video track */
export function segmentOf(
  seq: number,
  epoch = 0,
  videoBytes = 1000,
): readonly [Segment, TrackBytes] {
  const startMs = BEGIN_MS + seq * 1000;
  const bytes = bytesOf(seq, videoBytes);
  const pieces = new Map(
    [...bytes].map(([track, { byteLength }]) => {
      const ticksPerMs = track === 'v0' ? 15 : 48;
      return [
        track,
        { startTicks: startMs * ticksPerMs, durationTicks: 1000 * ticksPerMs, byteLength },
      ];
    }),
  );
  return [{ seq, epoch, startMs, durationMs: 1000, pieces }, bytes];
}

function bytesOf(seq: number, videoBytes: number): TrackBytes {
  return new Map([
    ['v0', new Uint8Array(videoBytes).fill(seq % 251)],
    ['a0', new Uint8Array(100 + (seq % 7)).fill((seq + 100) % 251)],
  ]);
}

/** Adds one segment a second, advances the clock, and waits for the disk. */
export async function addSegments(
  { clock }: Fixture,
  segments: FileStreamSegments,
  seqs: Iterable<number>,
  { epoch = 0, videoBytes = 1000 } = {},
): Promise<void> {
  for (const seq of seqs) {
    clock.nowMs = Math.max(clock.nowMs, BEGIN_MS + (seq + 1) * 1000);
    segments.add(...segmentOf(seq, epoch, videoBytes));
    if (seq % 10 === 0) await segments.whenWritten();
  }
  await segments.whenWritten();
}

/** The integers from `from` up to, not including, `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** Sequence numbers of the segments that are no gaps. */
export function seqsOf(segments: StreamSegments | null): number[] {
  return segments?.segments.filter((each) => !isGap(each)).map(({ seq }) => seq) ?? [];
}

/** Sequence numbers of the gaps. */
export function gapsOf(segments: StreamSegments | null): number[] {
  return segments?.segments.filter(isGap).map(({ seq }) => seq) ?? [];
}

/** A digest of the video and audio bytes read for a segment; null when they are missing. */
export async function readDigest(
  segments: StreamSegments,
  seq: number,
  epoch = segments.segments.find((segment) => segment.seq === seq)?.epoch ?? 0,
): Promise<string | null> {
  const contents = [segments.read(epoch, seq, 'v0'), segments.read(epoch, seq, 'a0')];
  const bytes = await Promise.all(
    contents.map((each) => (each instanceof Blob ? each.bytes() : each)),
  );
  return bytes.includes(null) ? null : bytes.map((each) => `${each?.length}:${each?.[0]}`).join();
}

/** The digest that `readDigest` must return. */
export function expectedDigest(seq: number, videoBytes = 1000): string {
  return [...bytesOf(seq, videoBytes).values()].map((each) => `${each.length}:${each[0]}`).join();
}
