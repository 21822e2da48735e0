import { readlinkSync } from 'node:fs';

// A node in a network namespace of its own, which reaches Redis over one pair of virtual cables and
// all else over another. A direction of a cable is cut by a permanent neighbour entry with a wrong
// hardware address: frames go out and the other side drops them, so nobody is told anything.

const WRONG_ADDRESS = '02:00:00:00:00:99';
const NAMESPACE_MAX_MS = 2_000;

export type Direction = 'to-redis' | 'from-redis' | 'both';

/** Addresses of the two ends of a cable. */
interface Cable {
  readonly ours: string;
  readonly theirs: string;
}

/** A namespace with two cables to it. It goes with this process, however that ends. */
export interface Network {
  /** Runs a program in it. */
  readonly within: readonly string[];
  readonly redis: Cable;
  readonly rest: Cable;
  /** Loses what the node sends to Redis, or what Redis sends to it, or both, until `heal`. */
  cut(direction: Direction): void;
  heal(): void;
  remove(): void;
}

/** Why no such network can be made here; null: it can. */
export async function noNetworkReason(): Promise<string | null> {
  const missing = ['ip', 'unshare', 'nsenter', 'setpriv'].find((name) => Bun.which(name) === null);
  if (missing) return `the program ${missing} (packages iproute2 and util-linux) is not there`;
  try {
    (await makeNetwork()).remove();
    return null;
  } catch (error) {
    return `a network namespace cannot be made, which needs root: ${(error as Error).message}`;
  }
}

/** Makes a network; `remove` it in `finally`. @throws Error with what `ip` says */
export async function makeNetwork(): Promise<Network> {
  const held = ['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--net', 'sleep', 'infinity'];
  const holder = Bun.spawn(held, { stdio: ['ignore', 'ignore', 'ignore'] });
  const remove = () => holder.kill('SIGKILL');
  const within = ['nsenter', `--target=${holder.pid}`, '--net'];
  try {
    await separate(holder);
    run([...within, 'ip', 'link', 'set', 'lo', 'up']);
    // A /30 for each cable, in a range that private networks seldom use.
    const third = holder.pid % 128;
    const redis = lay(`fbr${holder.pid}`, `10.231.${third}`, holder.pid, within);
    const rest = lay(`fbc${holder.pid}`, `10.231.${third + 128}`, holder.pid, within);
    const lost = (address: string) => ['ip', 'neigh', 'replace', address, 'lladdr', WRONG_ADDRESS];
    const found = (address: string) => ['ip', 'neigh', 'del', address];
    const here = ['dev', redis.device];
    const there = ['dev', 'redis'];
    let heals: string[][] = [];
    const heal = () => {
      for (const command of heals) run(command);
      heals = [];
    };
    return {
      ...{ within, redis, rest, heal, remove },
      cut(direction) {
        if (direction !== 'from-redis') {
          run([...within, ...lost(redis.ours), ...there, 'nud', 'permanent']);
          heals.push([...within, ...found(redis.ours), ...there]);
        }
        if (direction !== 'to-redis') {
          run([...lost(redis.theirs), ...here, 'nud', 'permanent']);
          heals.push([...found(redis.theirs), ...here]);
        }
      },
    };
  } catch (error) {
    remove();
    throw error;
  }

  function lay(device: string, network: string, pid: number, inside: readonly string[]) {
    const [ours, theirs] = [`${network}.1`, `${network}.2`];
    const name = device.startsWith('fbr') ? 'redis' : 'rest';
    const peer = ['peer', 'name', name, 'netns', String(pid)];
    run(['ip', 'link', 'add', device, 'type', 'veth', ...peer]);
    run(['ip', 'address', 'add', `${ours}/30`, 'dev', device]);
    run(['ip', 'link', 'set', device, 'up']);
    run([...inside, 'ip', 'address', 'add', `${theirs}/30`, 'dev', name]);
    run([...inside, 'ip', 'link', 'set', name, 'up']);
    return { device, ours, theirs };
  }
}

/** Waits until a process is in a namespace of its own. */
async function separate({ pid, exited }: Bun.Subprocess): Promise<void> {
  const giveUpMs = performance.now() + NAMESPACE_MAX_MS;
  const namespaceOf = (process: number | 'self') => readlinkSync(`/proc/${process}/ns/net`);
  const gone = exited.then((status) => {
    throw new Error(`unshare ended with ${status}`);
  });
  while (namespaceOf(pid) === namespaceOf('self')) {
    await Promise.race([Bun.sleep(5), gone]);
    if (performance.now() > giveUpMs) throw new Error('unshare makes no namespace');
  }
  gone.catch(() => {});
}

/** @throws Error with what the program complains of */
function run(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command]);
  if (exitCode === 0) return;
  throw new Error(`${command.join(' ')}: ${stderr.toString().trim() || `status ${exitCode}`}`);
}
