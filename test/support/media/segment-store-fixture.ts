import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { type Epoch, isGap, type PieceBytes, type Segment } from '../../../server/media/segment.ts';
import type { Shelf } from '../../../server/media/store/segment-store.ts';
import type { FileShelf } from '../../../server/media/store/segment-store-files.ts';
import {
  FileShelves,
  type ShelvesOptions,
} from '../../../server/media/store/segment-stores-files.ts';

/** A moment in November 2026; the tests' clock begins here. */
export const BEGIN_MS = 1_795_000_000_000;

const MINUTE_MS = 60_000;

/** A logger whose lines a test can look at. */
export function listeningLogger(): { logger: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

export interface Fixture {
  readonly directory: string;
  readonly lines: Record<string, unknown>[];
  readonly clock: { nowMs: number };
  /** Shelves on this fixture, as after a start; nothing is done by time unless `sweep` is called. */
  start(options?: Partial<ShelvesOptions>): Promise<FileShelves>;
  /** The files of a stream, sorted by the numbers in their names. */
  files(streamId: string): Promise<string[]>;
}

const open: Fixture[] = [];

/** A folder of its own for each test. */
export async function newFixture(options: Partial<ShelvesOptions> = {}): Promise<Fixture> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'shelves-')));
  const { logger, lines } = listeningLogger();
  const clock = { nowMs: BEGIN_MS };
  const fixture: Fixture = {
    directory,
    lines,
    clock,
    async start(more) {
      const shelves = new FileShelves({
        directory,
        dvrMs: 10 * MINUTE_MS,
        spaceBytes: 1 << 30,
        minFreeBytes: 0,
        nowMs: () => clock.nowMs,
        isRecording: async () => null,
        logger,
        ...options,
        ...more,
      });
      await shelves.look();
      return shelves;
    },
    async files(streamId) {
      const names = await readdir(join(directory, streamId)).catch(() => []);
      return names.sort(new Intl.Collator('en', { numeric: true }).compare);
    },
  };
  open.push(fixture);
  return fixture;
}

/** Removes the folders of all grounds; each test file calls it after each test. */
export async function removeFixtures(): Promise<void> {
  for (const { directory } of open.splice(0)) await rm(directory, { recursive: true, force: true });
}

export function epochOf(number: number): Epoch {
  return {
    number,
    startMs: BEGIN_MS,
    tracks: [
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
    ],
    inits: new Map([
      ['v0', new Uint8Array([1, 2, 3, number])],
      ['a0', new Uint8Array([4, 5, number])],
    ]),
  };
}

/** A second of video; its bytes tell its number. @param videoBytes of the first rendition */
export function segmentOf(
  seq: number,
  epoch = 0,
  videoBytes = 1000,
): readonly [Segment, PieceBytes] {
  const startMs = BEGIN_MS + seq * 1000;
  const bytes = bytesOf(seq, videoBytes);
  const pieces = new Map(
    [...bytes].map(([track, { byteLength }]) => {
      const timescale = track === 'v0' ? 15 : 48;
      return [
        track,
        { startTicks: startMs * timescale, durationTicks: 1000 * timescale, byteLength },
      ];
    }),
  );
  return [{ seq, epoch, startMs, durationMs: 1000, pieces }, bytes];
}

function bytesOf(seq: number, videoBytes: number): PieceBytes {
  return new Map([
    ['v0', new Uint8Array(videoBytes).fill(seq % 251)],
    ['a0', new Uint8Array(100 + (seq % 7)).fill((seq + 100) % 251)],
  ]);
}

/** Adds segments as time goes by, one a second, to a disk that keeps up. */
export async function addSegments(
  { clock }: Fixture,
  shelf: FileShelf,
  seqs: Iterable<number>,
  { epoch = 0, videoBytes = 1000 } = {},
): Promise<void> {
  for (const seq of seqs) {
    clock.nowMs = Math.max(clock.nowMs, BEGIN_MS + (seq + 1) * 1000);
    shelf.add(...segmentOf(seq, epoch, videoBytes));
    if (seq % 10 === 0) await shelf.written();
  }
  await shelf.written();
}

/** Whole numbers from one to another, without that. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

/** The numbers of the segments that are there. */
export function seqsOf(shelf: Shelf | null): number[] {
  return shelf?.segments.filter((each) => !isGap(each)).map(({ seq }) => seq) ?? [];
}

/** And of those that were lost. */
export function gapsOf(shelf: Shelf | null): number[] {
  return shelf?.segments.filter(isGap).map(({ seq }) => seq) ?? [];
}

/** What a shelf gives of a segment, by its first rendition and its sound; null without. */
export async function readOf(
  shelf: Shelf,
  seq: number,
  epoch = shelf.segments.find((segment) => segment.seq === seq)?.epoch ?? 0,
): Promise<string | null> {
  const found = [shelf.read(epoch, seq, 'v0'), shelf.read(epoch, seq, 'a0')];
  const bytes = await Promise.all(
    found.map((each) => (each instanceof Blob ? each.bytes() : each)),
  );
  return bytes.includes(null) ? null : bytes.map((each) => `${each?.length}:${each?.[0]}`).join();
}

/** What it must give. */
export function writtenOf(seq: number, videoBytes = 1000): string {
  return [...bytesOf(seq, videoBytes).values()].map((each) => `${each.length}:${each[0]}`).join();
}
