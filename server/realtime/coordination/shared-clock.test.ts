import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { SteppedFixture } from '../../../test/support/feed/stepped-fixture.ts';

// Three nodes in real time, on a Redis whose clock is stepped under them.

/** They take half a minute; a machine that is short of time has looks taken again. */
const TEST_MS = 150_000;

let postgres: PostgresServer;

// At once, since they mostly wait for real time.
describe.concurrent('service time of nodes that live together', () => {
  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false, maxConnections: 500 });
  });
  afterAll(() => postgres.stop());

  for (const stepMs of [1_500, 10_000, -400, -10_000]) {
    test(
      `[N-8] [I-5] is the same when Redis’ clock steps by ${stepMs} ms and nodes are restarted`,
      () =>
        SteppedFixture.use(postgres, async (fixture) => {
          await fixture.stepRedis(stepMs);
          const fromMs = performance.now();
          await Bun.sleep(1_200);
          await fixture.restart();
          await fixture.restart();
          await fixture.agree(fromMs);
          await fixture.isWell();
          await fixture.restart();
          await Bun.sleep(1_500);
          await fixture.isWell();
        }),
      TEST_MS,
    );
  }

  test(
    '[N-8] [I-5] is the same again when a node did not run for a while, also while Redis’ clock is behind',
    () =>
      SteppedFixture.use(postgres, async (fixture) => {
        await fixture.stepRedis(-15_000);
        let stoodMs = 0;
        await fixture.restart(() => performance.now() - stoodMs);
        for (const ms of [1_000, 9_000]) {
          stoodMs += ms;
          await fixture.agree(performance.now());
          await fixture.isWell();
        }
      }),
    TEST_MS,
  );

  for (const aheadMs of [100, 900]) {
    test(
      `[N-8] [N-11] feed reads are answered in time when service time is ${aheadMs} ms ahead of Redis’ clock`,
      () =>
        SteppedFixture.use(postgres, async (fixture) => {
          await fixture.stepRedis(-aheadMs);
          await Bun.sleep(1_500);
          const late = (await fixture.readsLate()).toSorted((a, b) => a - b);
          expect(late.at(-1)).toBeFinite();
          expect(late[late.length >> 1]).toBeLessThan(200);
        }),
      TEST_MS,
    );
  }
});
