import { afterEach, expect, test } from 'bun:test';
import { appendFile, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addSegments,
  epochOf,
  gapsOf,
  newFixture,
  range,
  readOf,
  removeFixtures,
  segmentOf,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

afterEach(removeFixtures);

test('what was not finished is removed, and what is not ours is left alone', async () => {
  const fixture = await newFixture();
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 3));
  await shelf.close(false);
  const folder = join(fixture.directory, STREAM);
  await writeFile(join(folder, '3-0-1795000003000-1000-1300.segment.unfinished'), 'torn');
  await writeFile(join(folder, 'notes.txt'), 'mine');
  await writeFile(join(fixture.directory, 'notes.txt'), 'mine');
  const shelves = await fixture.start();
  expect(seqsOf(await shelves.find(STREAM))).toEqual(range(0, 3));
  const files = await fixture.files(STREAM);
  expect(files.some((name) => name.endsWith('.unfinished'))).toBe(false);
  expect(files).toContain('notes.txt');
});

/** The numbers to another, without one. */
const without = (seq: number, to: number) => range(0, to).filter((each) => each !== seq);

async function changeLastByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length - 1] = 0;
  await writeFile(path, bytes);
}

test.each([
  ['is cut off', (path: string) => truncate(path, 500)],
  ['is empty', (path: string) => truncate(path, 0)],
  ['has only zeros', (path: string) => writeFile(path, new Uint8Array(1300))],
  ['is gone', (path: string) => unlink(path)],
  [
    'is of another kind',
    (path: string) => truncate(path, 1200).then(() => appendFile(path, 'x'.repeat(99))),
  ],
  ['has another end', (path: string) => changeLastByte(path)],
])(
  'a file in the middle that %s is a gap, while the stream goes on and after its end',
  async (_, harm) => {
    const fixture = await newFixture();
    const shelf = await (await fixture.start()).open(STREAM);
    shelf.keep('recording');
    shelf.addEpoch(epochOf(0));
    await addSegments(fixture, shelf, range(0, 100));
    await shelf.close(false);
    const harmed = (await fixture.files(STREAM)).find((name) => name.startsWith('60-'));
    if (!harmed) throw new Error('there is no such file');
    await harm(join(fixture.directory, STREAM, harmed));
    const during = await (await fixture.start()).open(STREAM);
    expect([seqsOf(during), gapsOf(during)]).toEqual([without(60, 100), [60]]);
    await addSegments(fixture, during, range(100, 110));
    await during.close(true);
    expect([seqsOf(during), gapsOf(during)]).toEqual([without(60, 110), [60]]);
    const after = await (await fixture.start()).open(STREAM);
    expect([seqsOf(after), gapsOf(after)]).toEqual([without(60, 110), [60]]);
    for (const seq of seqsOf(after)) expect(await readOf(after, seq)).toBe(writtenOf(seq));
    expect(await readOf(after, 60)).toBeNull();
    expect(after.segments[60]).toEqual({ ...segmentOf(60)[0], pieces: new Map() });
  },
);

test('segments without their init segments are no use, and leave', async () => {
  const fixture = await newFixture();
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 5));
  shelf.addEpoch(epochOf(1));
  await addSegments(fixture, shelf, range(5, 10), { epoch: 1 });
  await shelf.close(true);
  await truncate(join(fixture.directory, STREAM, '0.epoch'), 10);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(5, 10));
  expect(fixture.lines).toMatchObject([{ level: 40, broken: 5 }]);
});
