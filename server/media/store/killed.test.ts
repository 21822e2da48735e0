import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  newFixture,
  range,
  readOf,
  removeFixtures,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

afterEach(removeFixtures);

/** Adds segments as fast as the disk takes them, and tells of each, until it is killed. */
const WRITER = `
  const [directory, fixture] = process.argv.slice(-2);
  const { newFixture, epochOf, segmentOf } = await import(fixture);
  const shelf = await (await (await newFixture({ directory })).start()).open('${STREAM}');
  const first = (shelf.segments.at(-1)?.seq ?? -1) + 1;
  const epoch = (shelf.epochs.at(-1)?.number ?? -1) + 1;
  shelf.addEpoch(epochOf(epoch));
  for (let seq = first; ; seq++) {
    shelf.add(...segmentOf(seq, epoch, 50_000));
    await shelf.written();
    console.log(seq);
  }
`;

test('what was written before kill -9 is there after it, again and again', async () => {
  const fixture = await newFixture();
  let told = -1;
  for (let times = 1; times <= 4; times++) {
    const module = join(import.meta.dir, '../../../test/support/media/segment-store-fixture.ts');
    const writer = Bun.spawn([process.execPath, '-e', WRITER, fixture.directory, module], {
      stdout: 'pipe',
    });
    let text = '';
    for await (const bytes of writer.stdout) {
      text += new TextDecoder().decode(bytes);
      // In the middle of whatever it does.
      if (text.split('\n').length > 20) writer.kill('SIGKILL');
    }
    await writer.exited;
    told = Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1));
    const shelf = await (await fixture.start()).open(STREAM);
    const count = shelf.segments.length;
    expect(count).toBeGreaterThan(told);
    expect(seqsOf(shelf)).toEqual(range(0, count));
    expect(shelf.epochs).toHaveLength(times);
    for (const seq of range(0, count))
      expect(await readOf(shelf, seq)).toBe(writtenOf(seq, 50_000));
    expect((await fixture.files(STREAM)).filter((name) => name.endsWith('.unfinished'))).toEqual(
      [],
    );
  }
  expect(fixture.lines).toEqual([]);
});
