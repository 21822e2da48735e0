import { type ServerProcess, serveProcess } from '../harness/program.ts';
import type { Target } from '../kill/retrying-client.ts';

export interface NodeOptions {
  readonly target: Target;
  /** Settings of `serve`, besides its address. */
  readonly args: readonly string[];
  /** Variables that it starts with. */
  readonly env?: Record<string, string>;
  /** What runs the program, as `ip netns exec name` does. */
  readonly within?: readonly string[];
}

const LOOK_MS = 5;
const READY_MAX_MS = 20_000;
const STOPPED_MAX_MS = 15_000;

/** A node: a process on an address of its own, which it keeps over restarts. */
export class ClusterNode {
  readonly target: Target;
  private process: ServerProcess | null = null;
  private earlier = '';

  constructor(private readonly options: NodeOptions) {
    this.target = options.target;
  }

  get isRunning(): boolean {
    return this.process !== null;
  }

  /** Starts it. @returns ms until it was ready */
  async start(): Promise<number> {
    const { target, args, env = {}, within = [] } = this.options;
    const startedMs = performance.now();
    const address = ['--host', target.hostname, '--port', String(target.port)];
    this.process = await serveProcess([...address, ...args], env, null, [
      ...boundToThisProcess(),
      ...within,
    ]);
    await this.ready();
    return performance.now() - startedMs;
  }

  /** `kill -9`; resolves when it is gone. */
  async kill(): Promise<void> {
    const { process } = this;
    this.process = null;
    process?.signal('SIGKILL');
    await process?.exited;
    this.keepLog(process);
  }

  /** Drains it. @throws Error when it does not end with 0 in time (O-11) */
  async stop(): Promise<void> {
    const { process } = this;
    this.process = null;
    process?.signal('SIGTERM');
    const status = await Promise.race([process?.exited, Bun.sleep(STOPPED_MAX_MS).then(() => -1)]);
    this.keepLog(process);
    if (status !== 0)
      throw new Error(`a node that was stopped ended with ${status}: ${this.log()}`);
  }

  /** It does nothing more, and its connections stay open. */
  pause(): void {
    this.process?.signal('SIGSTOP');
  }

  resume(): void {
    this.process?.signal('SIGCONT');
  }

  /** Status of a request to it; null when it does not answer. */
  async statusOf(path: string): Promise<number | null> {
    const { hostname, port } = this.target;
    const response = await fetch(`http://${hostname}:${port}${path}`).catch(() => null);
    await response?.arrayBuffer().catch(() => {});
    return response?.status ?? null;
  }

  /** Everything it has said on standard error in all its lives. */
  log(): string {
    return this.earlier + (this.process?.log() ?? '');
  }

  private async ready(): Promise<void> {
    const giveUpMs = performance.now() + READY_MAX_MS;
    while ((await this.statusOf('/readyz')) !== 200) {
      if (performance.now() > giveUpMs) throw new Error(`a node is not ready: ${this.log()}`);
      await Bun.sleep(LOOK_MS);
    }
  }

  private keepLog(process: ServerProcess | null): void {
    this.earlier += process?.log() ?? '';
  }
}

/** The kernel ends what this starts together with this process, however that ends. */
function boundToThisProcess(): string[] {
  const setpriv = Bun.which('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}
