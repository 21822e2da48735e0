import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { SteppedFixture } from '../../../test/support/feed/stepped-fixture.ts';
import { IS_FULL_RUN } from '../../../test/support/full-run.ts';

// Three nodes in real time, on a Redis whose clock is stepped under them.

/** Timeout. A test takes half a minute, longer when a slow machine makes it repeat its checks. */
const TEST_MS = 150_000;

let postgres: PostgresServer;

// Concurrently, since the tests mostly wait for real time.
describe.concurrent('the service time of several nodes', () => {
  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false, maxConnections: 500 });
  });
  afterAll(() => postgres.stop());

  for (const stepMs of IS_FULL_RUN ? [1_500, 10_000, -400, -10_000] : [1_500, -10_000]) {
    test(
      `[N-8] [I-5] agrees when the clock of Redis steps by ${stepMs} ms and nodes are restarted`,
      () =>
        SteppedFixture.use(postgres, async (fixture) => {
          await fixture.stepRedis(stepMs);
          const fromMs = performance.now();
          await Bun.sleep(1_200);
          await fixture.restart();
          await fixture.restart();
          await fixture.agree(fromMs);
          await fixture.expectHealthy();
          await fixture.restart();
          await Bun.sleep(1_500);
          await fixture.expectHealthy();
        }),
      TEST_MS,
    );
  }

  test(
    '[N-8] [I-5] agrees again after a node was suspended, also while the clock of Redis is behind',
    () =>
      SteppedFixture.use(postgres, async (fixture) => {
        await fixture.stepRedis(-15_000);
        let suspendedMs = 0;
        await fixture.restart(() => performance.now() - suspendedMs);
        for (const ms of [1_000, 9_000]) {
          suspendedMs += ms;
          await fixture.agree(performance.now());
          await fixture.expectHealthy();
        }
      }),
    TEST_MS,
  );

  for (const aheadMs of IS_FULL_RUN ? [100, 900] : [900]) {
    test(
      `[N-8] [N-11] lets feed reads be answered in time when it is ${aheadMs} ms ahead of the clock of Redis`,
      () =>
        SteppedFixture.use(postgres, async (fixture) => {
          await fixture.stepRedis(-aheadMs);
          await Bun.sleep(1_500);
          const latencies = (await fixture.readLatencies()).toSorted((a, b) => a - b);
          expect(latencies.at(-1)).toBeFinite();
          expect(latencies[latencies.length >> 1]).toBeLessThan(200);
        }),
      TEST_MS,
    );
  }
});
