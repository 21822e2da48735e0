import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Load } from '../support/cluster/load.ts';
import { Outages } from '../support/cluster/outages.ts';
import { SABOTAGES, type Sabotage, sabotaged } from '../support/cluster/sabotage.ts';
import {
  fourbeat,
  killServers,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';
import { seededRandom } from '../support/seeded-random.ts';

// What judges the faults is judged itself: a service that keeps its promises, behind proxies that
// break one each.

const LOAD_MS = 4_000;
/** More at once would take each other's time. */
const AT_ONCE = 8;
const RUN_MS = 120_000;
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--rate-chat', '1000/10', '--log-level', 'error'],
];
const HONEST: Sabotage = { name: 'none', found: /^$/ };

const folder = temporaryFolder();
const violations = new Map<string, readonly string[]>();

beforeAll(async () => {
  const data = folder.path('data');
  const account = ['--email', 'ann@example.org', '--name', 'Ann', '--data', data];
  const { stdout } = await fourbeat(['account', 'create', ...account]);
  const apiToken: string = JSON.parse(stdout).token;
  const { port } = await serveProcess(['--data', data, ...FLAGS]);
  const service = { hostname: '127.0.0.1', port };
  const judge = async (sabotage: Sabotage) => {
    const proxy = sabotaged(service, sabotage);
    const nodes = [proxy.target, proxy.target, proxy.target];
    const load = await Load.open({
      ...{ nodes, apiToken, outages: new Outages(), random: seededRandom(1) },
      ...{ shows: 2, clients: 5, watchers: 5 },
    });
    await load.begin();
    await Bun.sleep(LOAD_MS);
    await load.end();
    await load.check();
    await proxy.stop();
    // What is late is found on a busy machine too.
    const { violations: wrong, excused } = load.judgement;
    violations.set(sabotage.name, sabotage === HONEST ? wrong : [...wrong, ...excused]);
  };
  const all = [HONEST, ...SABOTAGES];
  for (let first = 0; first < all.length; first += AT_ONCE) {
    await Promise.all(all.slice(first, first + AT_ONCE).map(judge));
  }
}, RUN_MS);
afterAll(async () => {
  await killServers();
  folder.remove();
});

describe('the oracle of the faults', () => {
  test('finds nothing wrong with a service that keeps its promises', () => {
    expect(violations.get(HONEST.name)).toEqual([]);
  });

  test.each(SABOTAGES.map(({ name, found }) => [name, found] as const))(
    'finds %s',
    (name, found) => {
      expect(
        violations.get(name)?.filter((violation) => found.test(violation)).length,
      ).toBeGreaterThan(0);
    },
  );
});
