import { afterAll, expect, test } from 'bun:test';
import { freePort } from '../support/backends/free-port.ts';
import { rounds } from '../support/full-run.ts';
import { fourbeat, killServers, temporaryFolder } from '../support/harness/program.ts';
import { AnsweringClients } from '../support/kill/answering-clients.ts';
import {
  type AnswerRow,
  ConsistencyChecker,
  type WinnerRow,
} from '../support/kill/consistency-checker.ts';
import { KillableServer, type Restart } from '../support/kill/killable-server.ts';
import { Producer } from '../support/kill/producer.ts';
import { Readers } from '../support/kill/readers.ts';
import { playRound } from '../support/kill/show.ts';
import { seededRandom } from '../support/seeded-random.ts';

// A show whose server is killed at a random time in each round. The checker knows only what clients
// sent and received; in the end the feed and the exports of the service are compared with it.

const ROUNDS = Number(process.env.KILL_ROUNDS ?? rounds(4, 20));
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 2 ** 31);
const CLIENTS = 2_000;
const LIVE_READERS = 16;
const REPLAYING_READERS = 2;
/** Approximate length of a round, and the time its quiz is open. */
const ROUND_MS = 3_000;
const OPEN_MS = 1_300;
/** Share of rounds with a kill while the quiz is open; others are killed at any time. */
const KILL_WHILE_OPEN_SHARE = 0.6;
/** Share of rounds with a second kill, soon after the restart. */
const SECOND_KILL_SHARE = 0.2;
const ROUND_LIMIT_MS = 20_000;
/** time from the kill until the server is ready again. */
const READY_MS = 2_000;

const folder = temporaryFolder();
afterAll(async () => {
  await killServers();
  folder.remove();
});

test(
  `[R-17] [I-1 – I-4] a show of ${ROUNDS} rounds with ${CLIENTS} clients loses and doubles nothing acknowledged when each round has a kill -9`,
  async () => {
    console.log(`kill test: KILL_SEED=${SEED}`);
    const random = seededRandom(SEED);
    const data = folder.path('data');
    const target = { hostname: '127.0.0.1', port: await freePort() };
    const account = await fourbeat([
      ...['account', 'create', '--data', data],
      ...['--email', 'producer@example.org', '--name', 'Producer'],
    ]);
    const apiToken: string = JSON.parse(account.stdout).token;
    const server = new KillableServer(target, data);
    await server.start();

    const violations: string[] = [];
    const checker = new ConsistencyChecker((violation) => violations.push(violation));
    const service = { nodes: [target] };
    const producer = new Producer({ service, apiToken, checker });
    const streamId = await producer.createStream();
    const answerers = new AnsweringClients({ service, streamId, checker, random });
    await answerers.join(CLIENTS);
    const readers = await Readers.open({ service, streamId, checker, random });
    const { interval } = await getJson<{ interval: number }>(target, '/api/v1/time');
    readers.start(interval, { live: LIVE_READERS, replaying: REPLAYING_READERS });
    const events = producer.sendEvents();
    const showParts = { checker, producer, answerers, readers, random };

    const startedMs = performance.now();
    for (let round = 1; round <= ROUNDS; round++) {
      const isOver = Promise.all([playRound(showParts), killDuringRound()]).then(() => true);
      const isLate = Bun.sleep(ROUND_LIMIT_MS).then(() => false);
      if (!(await Promise.race([isOver, isLate]))) {
        checker.expect(false, `round ${round} did not end: an event or a response is missing`);
        break;
      }
      if (round % 10 === 0) console.log(`kill test: ${round} rounds, ${summary()}`);
    }
    producer.stop();
    await events;
    await readers.stop();

    // Read again after a kill, so that every interval comes from the database.
    await server.kill();
    const feed = await readers.readAllAgain();
    checker.checkFeed(feed);
    checker.checkAnswers(await producer.export<AnswerRow>('answers'));
    checker.checkWinners(await producer.export<WinnerRow>('winners'));
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    // Exclude the time for which the main thread waited for a core.
    const runningMs = ({ readyMs, queuedMs }: Restart) => readyMs - queuedMs;
    const restarts = server.restarts.toSorted((a, b) => runningMs(b) - runningMs(a));
    const [slowest] = restarts as [Restart];
    const median = restarts[restarts.length >> 1] as Restart;
    console.log(
      `kill test: ${ROUNDS} rounds and ${restarts.length} kills in ${seconds} s, ` +
        `${summary()}; ready again after ${median.readyMs.toFixed(0)} ms (median), ` +
        `${slowest.readyMs.toFixed(0)} ms at most (gone after ${slowest.exitedMs.toFixed(0)}, ` +
        `listening after ${slowest.listeningMs.toFixed(0)}, without a core for ` +
        `${slowest.queuedMs.toFixed(0)}, load ${slowest.load.toFixed(1)}); ` +
        `${violations.length} violations`,
    );
    expect(violations.slice(0, 20)).toEqual([]);
    // Kills must have hit open requests; with few rounds they may not.
    if (ROUNDS >= 10) expect(checker.figures.unknown).toBeGreaterThan(0);
    expect(runningMs(slowest)).toBeLessThan(READY_MS);

    async function killDuringRound(): Promise<void> {
      await Bun.sleep(random() * (random() < KILL_WHILE_OPEN_SHARE ? OPEN_MS : ROUND_MS));
      await server.kill();
      if (random() > SECOND_KILL_SHARE) return;
      await Bun.sleep(random() * 300);
      await server.kill();
    }

    function summary(): string {
      const { acknowledged, refused, unknown, claims, events: sent, bodies } = checker.figures;
      return (
        `answers ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown; ` +
        `${claims} claims, ${sent} producer events, ${bodies} bodies read`
      );
    }
  },
  (ROUNDS + 5) * ROUND_LIMIT_MS,
);

async function getJson<T>({ hostname, port }: { hostname: string; port: number }, path: string) {
  return (await (await fetch(`http://${hostname}:${port}${path}`)).json()) as T;
}
