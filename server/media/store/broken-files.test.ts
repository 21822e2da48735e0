import { afterEach, expect, test } from 'bun:test';
import { appendFile, readFile, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addSegments,
  epochOf,
  expectedDigest,
  gapsOf,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  segmentOf,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';

afterEach(removeFixtures);

test('the store removes unfinished files and leaves other files alone', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 3));
  await segments.close(false);
  const folder = join(fixture.directory, STREAM);
  await writeFile(join(folder, '3-0-1795000003000-1000-1300.segment.unfinished'), 'partial');
  await writeFile(join(folder, 'notes.txt'), 'foreign');
  await writeFile(join(fixture.directory, 'notes.txt'), 'foreign');
  const store = await fixture.start();
  expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 3));
  const files = await fixture.files(STREAM);
  expect(files.some((name) => name.endsWith('.unfinished'))).toBe(false);
  expect(files).toContain('notes.txt');
});

/** The integers from 0 up to `to`, without `seq`. */
const rangeWithout = (seq: number, to: number) => range(0, to).filter((each) => each !== seq);

async function changeLastByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length - 1] = 0;
  await writeFile(path, bytes);
}

test.each([
  ['is truncated', (path: string) => truncate(path, 500)],
  ['is empty', (path: string) => truncate(path, 0)],
  ['has only zeros', (path: string) => writeFile(path, new Uint8Array(1300))],
  ['is missing', (path: string) => unlink(path)],
  [
    'has trailing garbage',
    (path: string) => truncate(path, 1200).then(() => appendFile(path, 'x'.repeat(99))),
  ],
  ['has a wrong magic number', (path: string) => changeLastByte(path)],
])(
  'a segment file that %s becomes a gap, during the stream and after its end',
  async (_, damage) => {
    const { fixture, segments } = await startStream();
    segments.setRetention('recording');
    await addSegments(fixture, segments, range(0, 100));
    await segments.close(false);
    const damaged = (await fixture.files(STREAM)).find((name) => name.startsWith('60-'));
    if (!damaged) throw new Error('segment file not found');
    await damage(join(fixture.directory, STREAM, damaged));
    const during = await (await fixture.start()).open(STREAM);
    expect([seqsOf(during), gapsOf(during)]).toEqual([rangeWithout(60, 100), [60]]);
    await addSegments(fixture, during, range(100, 110));
    await during.close(true);
    expect([seqsOf(during), gapsOf(during)]).toEqual([rangeWithout(60, 110), [60]]);
    const after = await (await fixture.start()).open(STREAM);
    expect([seqsOf(after), gapsOf(after)]).toEqual([rangeWithout(60, 110), [60]]);
    for (const seq of seqsOf(after)) expect(await readDigest(after, seq)).toBe(expectedDigest(seq));
    expect(await readDigest(after, 60)).toBeNull();
    expect(after.segments[60]).toEqual({ ...segmentOf(60)[0], pieces: new Map() });
  },
);

test('the store removes segments whose epoch file is broken', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 5));
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(5, 10), { epoch: 1 });
  await segments.close(true);
  await truncate(join(fixture.directory, STREAM, '0.epoch'), 10);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(5, 10));
  expect(fixture.lines).toMatchObject([{ level: 40, broken: 5 }]);
});
