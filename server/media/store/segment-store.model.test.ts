import { afterEach, test } from 'bun:test';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  BEGIN_MS,
  createFixture,
  epochOf,
  expectedDigest,
  type Fixture,
  gapsOf,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  seqsOf,
} from '../../../test/support/media/segment-store-fixture.ts';
import type { FileSegmentStore } from './segment-store-files.ts';
import type { FileStreamSegments } from './stream-segments-files.ts';

afterEach(removeFixtures);

const DVR_S = 50;
const REMOVAL_DELAY_S = 60;
const PROTECTED_WINDOW_S = 30;
// Each test segment takes one block.
const FILES_MAX = 80;
// A failed write is retried after this time.
const RETRY_S = 31;

/** The model of a stream: segments are numbers, and each lasts a second. */
class Model {
  disk: number[] = [];
  /** Listed segments; numbers missing between them are gaps. */
  listed: number[] = [];
  next = 0;
  /** Whether there is a file to note the next number; it is made with the first segment. */
  hasNote = false;
  /** The next number when it was last noted, and the second of that. */
  noted = 0;
  notedAt = Number.NEGATIVE_INFINITY;
  retention: 'dvr' | 'recording' = 'dvr';
  /** Seconds since the start. */
  now = 0;
  lastAdded = Number.NEGATIVE_INFINITY;
  isEnded = false;
  endedAt = 0;

  get gaps(): number[] {
    return range(this.listed[0] ?? 0, this.listed.at(-1) ?? 0).filter(
      (seq) => !this.listed.includes(seq),
    );
  }

  add(count: number): void {
    for (const seq of range(this.next, this.next + count)) {
      this.list(seq);
      this.freeSpace();
      this.disk.push(seq);
    }
    this.hasNote = true;
  }

  /** Adds while writes fail; the buffered segments are written on the retry. */
  addWhileFull(count: number): void {
    const first = this.next;
    for (const seq of range(first, first + count)) {
      this.list(seq);
      // Space is freed for the segment that is tried.
      if (seq === first) this.freeSpace();
      const lost = seq - PROTECTED_WINDOW_S - 1;
      if (lost >= first) this.listed = this.listed.filter((each) => each !== lost);
    }
    this.note();
    this.hasNote = true;
    this.now += RETRY_S;
    for (const seq of range(Math.max(first, this.next - PROTECTED_WINDOW_S - 1), this.next)) {
      this.freeSpace();
      this.disk.push(seq);
    }
  }

  private list(seq: number): void {
    this.next = seq + 1;
    this.now = Math.max(this.now, this.next);
    this.lastAdded = this.now;
    this.isEnded = false;
    this.listed.push(seq);
    this.trim();
  }

  private freeSpace(): void {
    while (this.disk.length >= FILES_MAX) {
      const evicted = this.disk.shift() as number;
      this.listed = this.listed.filter((each) => each > evicted);
    }
  }

  trim(): void {
    if (this.retention === 'recording') return;
    const newest = this.listed.at(-1) ?? 0;
    this.listed = this.listed.filter((each) => each > newest - DVR_S);
  }

  end(): void {
    if (!this.isEnded) this.endedAt = this.now;
    this.isEnded = true;
  }

  sweep(): void {
    if (this.retention === 'dvr' && this.disk.length > 0) this.removeExpired();
    if (this.disk.length > 0 || this.now < this.notedAt + DVR_S) return;
    Object.assign(this, { hasNote: false, noted: 0, notedAt: Number.NEGATIVE_INFINITY });
  }

  private removeExpired(): void {
    const end = (this.disk.at(-1) ?? 0) + 1;
    const isLive = !this.isEnded && this.now - this.lastAdded < 60;
    const hasExpired = !isLive && this.now > (this.isEnded ? this.endedAt : end) + DVR_S;
    const removed = this.disk.filter(
      (each) => hasExpired || each + 1 < end - DVR_S - REMOVAL_DELAY_S,
    );
    this.disk = this.disk.filter((each) => !removed.includes(each));
    // Segments of a former recording stay listed until their files are removed.
    this.listed = hasExpired ? [] : this.listed.filter((each) => !removed.includes(each));
  }

  /** Adds while writes fail, that of the epoch first; a restart follows before they succeed. */
  addAndLose(count: number): void {
    for (const seq of range(this.next, this.next + count)) this.list(seq);
    this.note();
  }

  private note(): void {
    if (!this.hasNote) return;
    this.noted = this.next;
    this.notedAt = this.now;
  }

  restart(): void {
    this.lastAdded = Number.NEGATIVE_INFINITY;
    this.next = Math.max(this.noted, (this.disk.at(-1) ?? -1) + 1);
    this.listed = [...this.disk];
    this.trim();
  }
}

class System {
  private constructor(
    readonly fixture: Fixture,
    readonly disk: FaultyDisk,
    public store: FileSegmentStore,
    public segments: FileStreamSegments,
  ) {}

  static async create(): Promise<System> {
    const disk = new FaultyDisk();
    const fixture = await createFixture({
      dvrMs: DVR_S * 1000,
      spaceBytes: FILES_MAX * 4096,
      disk,
    });
    const store = await fixture.start();
    return new System(fixture, disk, store, await store.open(STREAM));
  }

  /** Adds segments of a new epoch, as a new source does. */
  async add(count: number, model: Model): Promise<void> {
    const next = this.segments.nextSeq;
    expectSame('number', [next], [model.next]);
    const epoch = this.segments.nextEpoch;
    this.segments.addEpoch(epochOf(epoch));
    await addSegments(this.fixture, this.segments, range(next, next + count), { epoch });
  }

  async restart(): Promise<void> {
    this.store = await this.fixture.start();
    this.segments = await this.store.open(STREAM);
  }
}

class Add implements fc.AsyncCommand<Model, System> {
  constructor(readonly count: number) {}
  // An ended stream accepts no segments.
  check = (model: Readonly<Model>) => !model.isEnded;
  async run(model: Model, real: System): Promise<void> {
    await real.add(this.count, model);
    model.add(this.count);
    await expectAgreement(model, real);
  }
  toString = () => `add(${this.count})`;
}

class AddWhileFull implements fc.AsyncCommand<Model, System> {
  constructor(readonly count: number) {}
  check = (model: Readonly<Model>) => !model.isEnded;
  async run(model: Model, real: System): Promise<void> {
    real.disk.failure = 'EIO';
    await real.add(this.count, model);
    real.disk.failure = null;
    model.addWhileFull(this.count);
    real.fixture.clock.nowMs = nowMsOf(model);
    real.segments.startWriting();
    await real.segments.whenWritten();
    await expectAgreement(model, real);
  }
  toString = () => `addWhileFull(${this.count})`;
}

/** Restarts while segments are in memory only, because writes fail. */
class RestartWhileFull implements fc.AsyncCommand<Model, System> {
  constructor(readonly count: number) {}
  check = (model: Readonly<Model>) => !model.isEnded && model.hasNote;
  async run(model: Model, real: System): Promise<void> {
    real.disk.failure = 'EIO';
    await real.add(this.count, model);
    await real.segments.whenWritten();
    const { nextEpoch } = real.segments;
    await real.restart();
    real.disk.failure = null;
    expectSame('next epoch', [real.segments.nextEpoch], [nextEpoch]);
    model.addAndLose(this.count);
    model.restart();
    await expectAgreement(model, real);
  }
  toString = () => `restartWhileFull(${this.count})`;
}

class SetRetention implements fc.AsyncCommand<Model, System> {
  constructor(readonly retention: 'dvr' | 'recording') {}
  // The state of a stream without segments is not stored.
  check = (model: Readonly<Model>) => model.disk.length > 0;
  async run(model: Model, real: System): Promise<void> {
    real.segments.setRetention(this.retention);
    await real.segments.whenWritten();
    model.retention = this.retention;
    await expectAgreement(model, real);
  }
  toString = () => `setRetention(${this.retention})`;
}

class AdvanceTime implements fc.AsyncCommand<Model, System> {
  constructor(readonly seconds: number) {}
  check = () => true;
  async run(model: Model, real: System): Promise<void> {
    model.now += this.seconds;
    real.fixture.clock.nowMs = nowMsOf(model);
    await real.store.sweep();
    model.sweep();
    await expectAgreement(model, real);
  }
  toString = () => `advanceTime(${this.seconds})`;
}

class End implements fc.AsyncCommand<Model, System> {
  check = (model: Readonly<Model>) => model.disk.length > 0;
  async run(model: Model, real: System): Promise<void> {
    await real.segments.close(true);
    model.end();
    await expectAgreement(model, real);
  }
  toString = () => 'end';
}

/** Restarts after a crash and the loss of some files. */
class Restart implements fc.AsyncCommand<Model, System> {
  constructor(readonly lost: readonly number[]) {}
  check = () => true;
  async run(model: Model, real: System): Promise<void> {
    const files = segmentFiles(await real.fixture.files(STREAM));
    for (const index of this.lost) {
      const seq = model.disk[index];
      const name = files.find((each) => each.startsWith(`${seq}-`));
      if (seq === undefined || name === undefined || model.disk.length === 1) continue;
      await unlink(join(real.fixture.directory, STREAM, name));
      files.splice(files.indexOf(name), 1);
      model.disk.splice(model.disk.indexOf(seq), 1);
    }
    await real.restart();
    model.restart();
    await expectAgreement(model, real);
  }
  toString = () => `restart(${this.lost})`;
}

const segmentFiles = (names: readonly string[]) =>
  names.filter((name) => name.endsWith('.segment'));

const nowMsOf = ({ now }: Model) => BEGIN_MS + now * 1000;

async function expectAgreement(model: Model, { segments, store, fixture }: System): Promise<void> {
  expectSame('listed', seqsOf(segments), model.listed);
  expectSame('gaps', gapsOf(segments), model.gaps);
  expectSame(
    'times',
    segments.segments.map(({ startMs }) => startMs),
    segments.segments.map(({ seq }) => BEGIN_MS + seq * 1000),
  );
  const files = segmentFiles(await fixture.files(STREAM));
  expectSame(
    'on disk',
    files.map((name) => Number.parseInt(name, 10)),
    model.disk,
  );
  expectSame('bytes', [store.stats().bytes], [model.disk.length * 4096]);
  for (const { seq } of segments.segments) {
    const isListed = model.listed.includes(seq);
    expectSame('read', [await readDigest(segments, seq)], [isListed ? expectedDigest(seq) : null]);
  }
  const epochs = new Set(segments.epochs.map(({ number }) => number));
  expectSame(
    'without epoch',
    segments.segments.filter(({ epoch }) => !epochs.has(epoch)),
    [],
  );
}

function expectSame(name: string, real: readonly unknown[], model: readonly unknown[]): void {
  const [actual, expected] = [JSON.stringify(real), JSON.stringify(model)];
  if (actual !== expected) throw new Error(`${name}: ${actual} instead of ${expected}`);
}

test('[M-26] [M-27] [M-28] [M-29] a segment store agrees with its model over random operations', async () => {
  const commands = [
    fc.integer({ min: 1, max: PROTECTED_WINDOW_S }).map((count) => new Add(count)),
    fc.integer({ min: 1, max: PROTECTED_WINDOW_S }).map((count) => new Add(count)),
    fc.integer({ min: 1, max: 3 * PROTECTED_WINDOW_S }).map((count) => new AddWhileFull(count)),
    fc.integer({ min: 1, max: PROTECTED_WINDOW_S }).map((count) => new RestartWhileFull(count)),
    fc
      .constantFrom('dvr' as const, 'recording' as const)
      .map((retention) => new SetRetention(retention)),
    fc.integer({ min: 1, max: 80 }).map((seconds) => new AdvanceTime(seconds)),
    fc.constant(new End()),
    fc.array(fc.nat(FILES_MAX), { maxLength: 3 }).map((lost) => new Restart(lost)),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (sequence) => {
      await fc.asyncModelRun(
        async () => ({ model: new Model(), real: await System.create() }),
        sequence,
      );
      await removeFixtures();
    }),
    { numRuns: 60 },
  );
}, 60_000);
