import { type ServerProcess, serveProcess } from '../harness/program.ts';
import type { Target } from '../kill/retrying-client.ts';

export interface NodeOptions {
  readonly target: Target;
  /** Options of `serve`, besides its address. */
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** Command that runs the program, such as `ip netns exec NAME`. */
  readonly commandPrefix?: readonly string[];
}

const POLL_MS = 5;
const READY_MAX_MS = 20_000;
const STOPPED_MAX_MS = 15_000;

/** A node: a process that has the same address after each restart. */
export class ClusterNode {
  readonly target: Target;
  private process: ServerProcess | null = null;
  private earlierLog = '';

  constructor(private readonly options: NodeOptions) {
    this.target = options.target;
  }

  get isRunning(): boolean {
    return this.process !== null;
  }

  /** The id of its process. @throws Error when it does not run */
  get pid(): number {
    if (this.process === null) throw new Error('the node does not run');
    return this.process.pid;
  }

  /** Starts the node. @returns ms until it was ready; throws Error with its log after 20 s */
  async start(): Promise<number> {
    const { target, args, env = {}, commandPrefix = [] } = this.options;
    const startedMs = performance.now();
    const address = ['--host', target.hostname, '--port', String(target.port)];
    this.process = await serveProcess([...address, ...args], env, null, [
      ...dieWithParentPrefix(),
      ...commandPrefix,
    ]);
    await this.waitUntilReady();
    return performance.now() - startedMs;
  }

  /** Kills the node with SIGKILL; resolves when the process has ended. */
  async kill(): Promise<void> {
    const { process } = this;
    this.process = null;
    process?.signal('SIGKILL');
    await process?.exited;
    this.appendLog(process);
  }

  /** Stops the node with SIGTERM. @throws Error when it does not exit with 0 in time (O-11) */
  async stop(): Promise<void> {
    const { process } = this;
    this.process = null;
    process?.signal('SIGTERM');
    const status = await Promise.race([process?.exited, Bun.sleep(STOPPED_MAX_MS).then(() => -1)]);
    this.appendLog(process);
    if (status !== 0) throw new Error(`a stopped node exited with ${status}: ${this.log()}`);
  }

  /** Suspends the node; its connections stay open. */
  pause(): void {
    this.process?.signal('SIGSTOP');
  }

  resume(): void {
    this.process?.signal('SIGCONT');
  }

  /** Status of a request to the node; null without a response. */
  async statusOf(path: string): Promise<number | null> {
    const { hostname, port } = this.target;
    const response = await fetch(`http://${hostname}:${port}${path}`).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    return response?.status ?? null;
  }

  /** The standard error of the node, over all restarts. */
  log(): string {
    return this.earlierLog + (this.process?.log() ?? '');
  }

  private async waitUntilReady(): Promise<void> {
    const giveUpMs = performance.now() + READY_MAX_MS;
    while ((await this.statusOf('/readyz')) !== 200) {
      if (performance.now() > giveUpMs) throw new Error(`a node is not ready: ${this.log()}`);
      await Bun.sleep(POLL_MS);
    }
  }

  private appendLog(process: ServerProcess | null): void {
    this.earlierLog += process?.log() ?? '';
  }
}

/** A command that makes the kernel kill its program when this process ends. */
function dieWithParentPrefix(): string[] {
  const setpriv = Bun.which('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}
