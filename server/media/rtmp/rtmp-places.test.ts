import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { RtmpFixture, type TestSender } from '../../../test/support/media/rtmp-fixture.ts';

const PLACES = 512;
const PLACES_PER_ADDRESS = 16;
let fixture: RtmpFixture;

beforeEach(() => {
  fixture = new RtmpFixture();
});

afterEach(() => fixture.close());

/** Takes all places from addresses of one network. */
function takePlaces(port: number, allowHalfOpen = false): Promise<TestSender[]> {
  return Promise.all(
    Array.from({ length: PLACES }, (_, n) =>
      fixture.connect(port, allowHalfOpen, `127.0.1.${1 + Math.floor(n / PLACES_PER_ADDRESS)}`),
    ),
  );
}

describe('[M-16] connections from many addresses of one network', () => {
  test('silent ones keep no source out', async () => {
    const port = await fixture.listen();
    await takePlaces(port);
    await fixture.goLive(port);
  });

  test('refused ones that stay open keep no source out', async () => {
    const port = await fixture.listen({ lingerMs: 60_000 });
    for (const sender of await takePlaces(port, true)) {
      sender.publish('wrong');
      await sender.until((all) => all.codes().length > 0);
    }
    await fixture.goLive(port);
  });

  test('they replace no slow sender of another network', async () => {
    const port = await fixture.listen();
    const slow = await fixture.connect(port, false, '127.1.0.1');
    await takePlaces(port);
    slow.publish('KEY');
    await slow.until((sender) => sender.codes().length > 0);
    expect(slow.codes()).toEqual(['NetStream.Publish.Start']);
  });
});
