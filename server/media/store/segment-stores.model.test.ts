import { afterEach, test } from 'bun:test';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  BEGIN_MS,
  epochOf,
  type Fixture,
  gapsOf,
  newFixture,
  range,
  readOf,
  removeFixtures,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';
import type { FileShelf } from './segment-store-files.ts';
import type { FileShelves } from './segment-stores-files.ts';

afterEach(removeFixtures);

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const DVR_S = 50;
const LEAVING_S = 60;
const LIVE_WINDOW_S = 30;
// A segment of the tests is a block.
const FILES_MAX = 80;
// A disk that took nothing is tried again.
const AGAIN_S = 31;

/** What a stream is, said in the simplest way; a segment is its number, and lasts a second. */
class Model {
  disk: number[] = [];
  /** Numbers that are there; what is missing between them are gaps. */
  shown: number[] = [];
  next = 0;
  keeping: 'dvr' | 'recording' = 'dvr';
  /** As in numbers of segments: a second each. */
  now = 0;
  added = Number.NEGATIVE_INFINITY;
  isEnded = false;
  ended = 0;

  get gaps(): number[] {
    return range(this.shown[0] ?? 0, this.shown.at(-1) ?? 0).filter(
      (seq) => !this.shown.includes(seq),
    );
  }

  add(count: number): void {
    for (const seq of range(this.next, this.next + count)) {
      this.show(seq);
      this.makeRoom();
      this.disk.push(seq);
    }
  }

  /** Adds while the disk takes nothing, and what memory still has when it does again. */
  addWhileFull(count: number): void {
    const first = this.next;
    for (const seq of range(first, first + count)) {
      this.show(seq);
      // Room is made for the one that is tried.
      if (seq === first) this.makeRoom();
      const lost = seq - LIVE_WINDOW_S - 1;
      if (lost >= first) this.shown = this.shown.filter((each) => each !== lost);
    }
    this.now += AGAIN_S;
    for (const seq of range(Math.max(first, this.next - LIVE_WINDOW_S - 1), this.next)) {
      this.makeRoom();
      this.disk.push(seq);
    }
  }

  private show(seq: number): void {
    this.next = seq + 1;
    this.now = Math.max(this.now, this.next);
    this.added = this.now;
    this.isEnded = false;
    this.shown.push(seq);
    this.trim();
  }

  private makeRoom(): void {
    while (this.disk.length >= FILES_MAX) {
      const gone = this.disk.shift() as number;
      this.shown = this.shown.filter((each) => each > gone);
    }
  }

  trim(): void {
    if (this.keeping === 'recording') return;
    const newest = this.shown.at(-1) ?? 0;
    this.shown = this.shown.filter((each) => each > newest - DVR_S);
  }

  end(): void {
    if (!this.isEnded) this.ended = this.now;
    this.isEnded = true;
  }

  sweep(): void {
    if (this.keeping === 'recording' || this.disk.length === 0) return;
    const end = (this.disk.at(-1) ?? 0) + 1;
    const isLive = !this.isEnded && this.now - this.added < 60;
    const isOver = !isLive && this.now > (this.isEnded ? this.ended : end) + DVR_S;
    const gone = this.disk.filter((each) => isOver || each + 1 < end - DVR_S - LEAVING_S);
    this.disk = this.disk.filter((each) => !gone.includes(each));
    // Those of a recording that is none any more are shown until then.
    this.shown = isOver ? [] : this.shown.filter((each) => !gone.includes(each));
  }

  restart(): void {
    this.added = Number.NEGATIVE_INFINITY;
    this.next = (this.disk.at(-1) ?? -1) + 1;
    this.shown = [...this.disk];
    this.trim();
  }
}

/** The real thing, beside its model. */
class Real {
  private constructor(
    readonly fixture: Fixture,
    readonly disk: FaultyDisk,
    public shelves: FileShelves,
    public shelf: FileShelf,
  ) {}

  static async begin(): Promise<Real> {
    const disk = new FaultyDisk();
    const fixture = await newFixture({ dvrMs: DVR_S * 1000, spaceBytes: FILES_MAX * 4096, disk });
    const shelves = await fixture.start();
    return new Real(fixture, disk, shelves, await shelves.open(STREAM));
  }

  /** Another source comes. */
  async add(count: number, model: Model): Promise<void> {
    const next = this.shelf.nextSeq;
    same('number', [next], [model.next]);
    const epoch = (this.shelf.epochs.at(-1)?.number ?? -1) + 1;
    this.shelf.addEpoch(epochOf(epoch));
    await addSegments(this.fixture, this.shelf, range(next, next + count), { epoch });
  }

  async restart(): Promise<void> {
    this.shelves = await this.fixture.start();
    this.shelf = await this.shelves.open(STREAM);
  }
}

class Add implements fc.AsyncCommand<Model, Real> {
  constructor(readonly count: number) {}
  // A stream that has ended takes no more.
  check = (model: Readonly<Model>) => !model.isEnded;
  async run(model: Model, real: Real): Promise<void> {
    await real.add(this.count, model);
    model.add(this.count);
    await agrees(model, real);
  }
  toString = () => `add(${this.count})`;
}

class AddWhileFull implements fc.AsyncCommand<Model, Real> {
  constructor(readonly count: number) {}
  check = (model: Readonly<Model>) => !model.isEnded;
  async run(model: Model, real: Real): Promise<void> {
    real.disk.failure = 'EIO';
    await real.add(this.count, model);
    real.disk.failure = null;
    model.addWhileFull(this.count);
    real.fixture.clock.nowMs = nowMsOf(model);
    real.shelf.look();
    await real.shelf.written();
    await agrees(model, real);
  }
  toString = () => `addWhileFull(${this.count})`;
}

class Keep implements fc.AsyncCommand<Model, Real> {
  constructor(readonly keeping: 'dvr' | 'recording') {}
  // Of a stream without segments nothing is remembered over a restart.
  check = (model: Readonly<Model>) => model.disk.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    real.shelf.keep(this.keeping);
    await real.shelf.written();
    model.keeping = this.keeping;
    await agrees(model, real);
  }
  toString = () => `keep(${this.keeping})`;
}

class Pass implements fc.AsyncCommand<Model, Real> {
  constructor(readonly seconds: number) {}
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    model.now += this.seconds;
    real.fixture.clock.nowMs = nowMsOf(model);
    await real.shelves.sweep();
    model.sweep();
    await agrees(model, real);
  }
  toString = () => `pass(${this.seconds})`;
}

class End implements fc.AsyncCommand<Model, Real> {
  check = (model: Readonly<Model>) => model.disk.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    await real.shelf.close(true);
    model.end();
    await agrees(model, real);
  }
  toString = () => 'end';
}

/** As after `kill -9`, and a disk that lost some files. */
class Restart implements fc.AsyncCommand<Model, Real> {
  constructor(readonly lost: readonly number[]) {}
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const files = await real.fixture.files(STREAM);
    for (const place of this.lost) {
      const seq = model.disk[place];
      const name = files.find((each) => each.startsWith(`${seq}-`));
      if (seq === undefined || name === undefined || model.disk.length === 1) continue;
      await unlink(join(real.fixture.directory, STREAM, name));
      files.splice(files.indexOf(name), 1);
      model.disk.splice(model.disk.indexOf(seq), 1);
    }
    await real.restart();
    model.restart();
    await agrees(model, real);
  }
  toString = () => `restart(${this.lost})`;
}

const nowMsOf = ({ now }: Model) => BEGIN_MS + now * 1000;

async function agrees(model: Model, { shelf, shelves, fixture }: Real): Promise<void> {
  same('shown', seqsOf(shelf), model.shown);
  same('gaps', gapsOf(shelf), model.gaps);
  same(
    'times',
    shelf.segments.map(({ startMs }) => startMs),
    shelf.segments.map(({ seq }) => BEGIN_MS + seq * 1000),
  );
  const files = (await fixture.files(STREAM)).filter((name) => name.endsWith('.segment'));
  same(
    'on disk',
    files.map((name) => Number.parseInt(name, 10)),
    model.disk,
  );
  same('bytes', [shelves.stats().bytes], [model.disk.length * 4096]);
  for (const { seq } of shelf.segments) {
    const isThere = model.shown.includes(seq);
    same('read', [await readOf(shelf, seq)], [isThere ? writtenOf(seq) : null]);
  }
  const epochs = new Set(shelf.epochs.map(({ number }) => number));
  same(
    'without epoch',
    shelf.segments.filter(({ epoch }) => !epochs.has(epoch)),
    [],
  );
}

function same(what: string, real: readonly unknown[], model: readonly unknown[]): void {
  const [is, should] = [JSON.stringify(real), JSON.stringify(model)];
  if (is !== should) throw new Error(`${what}: ${is} and not ${should}`);
}

test('[M-26] [M-27] [M-28] [M-29] whatever comes, what can be read is what the rules say', async () => {
  const commands = [
    fc.integer({ min: 1, max: LIVE_WINDOW_S }).map((count) => new Add(count)),
    fc.integer({ min: 1, max: LIVE_WINDOW_S }).map((count) => new Add(count)),
    fc.integer({ min: 1, max: 3 * LIVE_WINDOW_S }).map((count) => new AddWhileFull(count)),
    fc.constantFrom('dvr' as const, 'recording' as const).map((keeping) => new Keep(keeping)),
    fc.integer({ min: 1, max: 80 }).map((seconds) => new Pass(seconds)),
    fc.constant(new End()),
    fc.array(fc.nat(FILES_MAX), { maxLength: 3 }).map((lost) => new Restart(lost)),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (sequence) => {
      await fc.asyncModelRun(
        async () => ({ model: new Model(), real: await Real.begin() }),
        sequence,
      );
      await removeFixtures();
    }),
    { numRuns: 60 },
  );
}, 60_000);
