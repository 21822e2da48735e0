import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import {
  createFixture,
  expectedDigest,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  seqsOf,
} from '../../../test/support/media/segment-store-fixture.ts';

afterEach(removeFixtures);

/** Adds segments as fast as possible and prints the number of each written one, until killed. */
const WRITER = `
  const [directory, fixture] = process.argv.slice(-2);
  const { createFixture, epochOf, segmentOf } = await import(fixture);
  const segments = await (await (await createFixture({ directory })).start()).open('${STREAM}');
  const first = (segments.segments.at(-1)?.seq ?? -1) + 1;
  const epoch = (segments.epochs.at(-1)?.number ?? -1) + 1;
  segments.addEpoch(epochOf(epoch));
  for (let seq = first; ; seq++) {
    segments.add(...segmentOf(seq, epoch, 50_000));
    await segments.whenWritten();
    console.log(seq);
  }
`;

test('a segment store keeps all written segments after each kill -9', async () => {
  const fixture = await createFixture();
  let lastPrinted = -1;
  for (let run = 1; run <= 4; run++) {
    const module = join(import.meta.dir, '../../../test/support/media/segment-store-fixture.ts');
    const writer = Bun.spawn([process.execPath, '-e', WRITER, fixture.directory, module], {
      stdout: 'pipe',
    });
    let text = '';
    for await (const bytes of writer.stdout) {
      text += new TextDecoder().decode(bytes);
      // At an arbitrary moment of a write.
      if (text.split('\n').length > 20) writer.kill('SIGKILL');
    }
    await writer.exited;
    lastPrinted = Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1));
    const segments = await (await fixture.start()).open(STREAM);
    const count = segments.segments.length;
    expect(count).toBeGreaterThan(lastPrinted);
    expect(seqsOf(segments)).toEqual(range(0, count));
    expect(segments.epochs).toHaveLength(run);
    for (const seq of range(0, count))
      expect(await readDigest(segments, seq)).toBe(expectedDigest(seq, 50_000));
    expect((await fixture.files(STREAM)).filter((name) => name.endsWith('.unfinished'))).toEqual(
      [],
    );
  }
  expect(fixture.lines).toEqual([]);
});
