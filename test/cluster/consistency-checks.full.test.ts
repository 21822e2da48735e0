import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  PROXY_FAULTS,
  type ProxyFault,
  startFaultyProxy,
} from '../support/cluster/faulty-proxy.ts';
import { Load } from '../support/cluster/load.ts';
import { Outages } from '../support/cluster/outages.ts';
import {
  fourbeat,
  killServers,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';
import { seededRandom } from '../support/seeded-random.ts';

// Tests the checks of the fault tests with a correct service behind proxies that break guarantees.

const LOAD_MS = 4_000;
/** Proxies under load at a time; with more of them responses would be late. */
const CONCURRENCY = 8;
const SETUP_TIMEOUT_MS = 120_000;
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--rate-chat', '1000/10', '--log-level', 'error'],
];
const NO_FAULT: ProxyFault = { name: 'none', violation: /^$/ };

const folder = temporaryFolder();
const violationsByFault = new Map<string, readonly string[]>();

beforeAll(async () => {
  const data = folder.path('data');
  const account = ['--email', 'ann@example.org', '--name', 'Ann', '--data', data];
  const { stdout } = await fourbeat(['account', 'create', ...account]);
  const apiToken: string = JSON.parse(stdout).token;
  const { port } = await serveProcess(['--data', data, ...FLAGS]);
  const service = { hostname: '127.0.0.1', port };
  const play = async (fault: ProxyFault) => {
    const proxy = startFaultyProxy(service, fault);
    const nodes = [proxy.target, proxy.target, proxy.target];
    const load = await Load.open({
      ...{ nodes, apiToken, outages: new Outages(), random: seededRandom(1) },
      ...{ streams: 2, answerers: 5, viewers: 5 },
    });
    await load.start();
    await Bun.sleep(LOAD_MS);
    await load.stop();
    return { fault, proxy, load };
  };
  const faults = [NO_FAULT, ...PROXY_FAULTS];
  for (let first = 0; first < faults.length; first += CONCURRENCY) {
    const plays = await Promise.all(faults.slice(first, first + CONCURRENCY).map(play));
    // One at a time, since the service refuses the fourth export of a member.
    for (const { fault, proxy, load } of plays) {
      await load.check();
      await proxy.stop();
      // On an overloaded machine the checks must still detect a late response.
      const { violations, overloadFailures } = load.checks;
      const found = fault === NO_FAULT ? violations : [...violations, ...overloadFailures];
      violationsByFault.set(fault.name, found);
    }
  }
}, SETUP_TIMEOUT_MS);
afterAll(async () => {
  await killServers();
  folder.remove();
});

describe('the checks of the fault tests', () => {
  test('the checks find no violation of a correct service', () => {
    expect(violationsByFault.get(NO_FAULT.name)).toEqual([]);
  });

  test.each(PROXY_FAULTS.map(({ name, violation }) => [name, violation] as const))(
    'the checks find %s',
    (name, violation) => {
      const found = violationsByFault.get(name) ?? [];
      expect(found.filter((text) => violation.test(text)).length).toBeGreaterThan(0);
    },
  );
});
