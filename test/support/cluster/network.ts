import { readlinkSync } from 'node:fs';

// A node in a network namespace of its own, which reaches Redis over one virtual link (veth) and
// everything else over another. A direction of a link is cut by a permanent neighbor entry with a
// wrong hardware address: the other side drops the frames, and no connection is reset.
// It needs root on Linux; without it, `networkSkipReason` says what is missing.

const WRONG_ADDRESS = '02:00:00:00:00:99';
const NAMESPACE_MAX_MS = 2_000;

export type Direction = 'to-redis' | 'from-redis' | 'both';

interface Link {
  readonly hostAddress: string;
  readonly nodeAddress: string;
}

/** A network namespace with two links. The kernel removes it when this process ends. */
export interface Network {
  /** Command that runs a program in the namespace. */
  readonly commandPrefix: readonly string[];
  readonly redis: Link;
  readonly other: Link;
  /** Drops packets between the node and Redis until `heal`. */
  cut(direction: Direction): void;
  heal(): void;
  remove(): void;
}

/** Why this machine cannot create such a network; null when it can. */
export async function networkSkipReason(): Promise<string | null> {
  const missing = ['ip', 'unshare', 'nsenter', 'setpriv'].find((name) => Bun.which(name) === null);
  if (missing) return `the program ${missing} is missing (packages iproute2 and util-linux)`;
  try {
    (await createNetwork()).remove();
    return null;
  } catch (error) {
    return `a network namespace needs root: ${(error as Error).message}`;
  }
}

/** Creates a network; `remove` it in `finally`. @throws Error with the message of `ip` */
export async function createNetwork(): Promise<Network> {
  const holderCommand = [
    'setpriv',
    '--pdeathsig',
    'KILL',
    '--',
    'unshare',
    '--net',
    'sleep',
    'infinity',
  ];
  const holder = Bun.spawn(holderCommand, { stdio: ['ignore', 'ignore', 'ignore'] });
  const remove = () => holder.kill('SIGKILL');
  const commandPrefix = ['nsenter', `--target=${holder.pid}`, '--net'];
  try {
    await waitForNamespace(holder);
    run([...commandPrefix, 'ip', 'link', 'set', 'lo', 'up']);
    // A /30 for each link, in a range that private networks seldom use.
    const thirdByte = holder.pid % 128;
    const redis = addLink('redis', `10.231.${thirdByte}`);
    const other = addLink('other', `10.231.${thirdByte + 128}`);
    const block = (address: string) => ['ip', 'neigh', 'replace', address, 'lladdr', WRONG_ADDRESS];
    const unblock = (address: string) => ['ip', 'neigh', 'del', address];
    const hostDevice = ['dev', redis.device];
    const nodeDevice = ['dev', 'redis'];
    let unblockCommands: string[][] = [];
    const heal = () => {
      for (const command of unblockCommands) run(command);
      unblockCommands = [];
    };
    return {
      ...{ commandPrefix, redis, other, heal, remove },
      cut(direction) {
        if (direction !== 'from-redis') {
          run([...commandPrefix, ...block(redis.hostAddress), ...nodeDevice, 'nud', 'permanent']);
          unblockCommands.push([...commandPrefix, ...unblock(redis.hostAddress), ...nodeDevice]);
        }
        if (direction !== 'to-redis') {
          run([...block(redis.nodeAddress), ...hostDevice, 'nud', 'permanent']);
          unblockCommands.push([...unblock(redis.nodeAddress), ...hostDevice]);
        }
      },
    };
  } catch (error) {
    remove();
    throw error;
  }

  /** @param name the device in the namespace */
  function addLink(name: 'redis' | 'other', network: string) {
    const device = `fb${name === 'redis' ? 'r' : 'c'}${holder.pid}`;
    const [hostAddress, nodeAddress] = [`${network}.1`, `${network}.2`];
    const peer = ['peer', 'name', name, 'netns', String(holder.pid)];
    run(['ip', 'link', 'add', device, 'type', 'veth', ...peer]);
    run(['ip', 'address', 'add', `${hostAddress}/30`, 'dev', device]);
    run(['ip', 'link', 'set', device, 'up']);
    run([...commandPrefix, 'ip', 'address', 'add', `${nodeAddress}/30`, 'dev', name]);
    run([...commandPrefix, 'ip', 'link', 'set', name, 'up']);
    return { device, hostAddress, nodeAddress };
  }
}

/** Waits until a process is in a namespace of its own. @throws Error after 2 s */
async function waitForNamespace({ pid, exited }: Bun.Subprocess): Promise<void> {
  const giveUpMs = performance.now() + NAMESPACE_MAX_MS;
  const namespaceOf = (process: number | 'self') => readlinkSync(`/proc/${process}/ns/net`);
  const exitFailure = exited.then((status) => {
    throw new Error(`unshare exited with ${status}`);
  });
  while (namespaceOf(pid) === namespaceOf('self')) {
    await Promise.race([Bun.sleep(5), exitFailure]);
    if (performance.now() > giveUpMs) throw new Error('unshare did not create a namespace');
  }
  exitFailure.catch(() => {});
}

/** @throws Error with the standard error of the program */
function run(command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command]);
  if (exitCode === 0) return;
  throw new Error(`${command.join(' ')}: ${stderr.toString().trim() || `status ${exitCode}`}`);
}
