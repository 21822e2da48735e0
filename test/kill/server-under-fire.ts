import { type ServerProcess, serveProcess } from '../program.ts';
import type { Target } from './requests.ts';

// What a crowd on one address needs, and a log that shows what went wrong.
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--log-level', 'error'],
];
const LOOK_MS = 5;
const READY_MAX_MS = 20_000;

/** A server that is killed and started again, always on the same port and data directory. */
export class ServerUnderFire {
  /** From each kill to the next 200 of `/readyz`, in ms. */
  readonly readyAfterMs: number[] = [];
  private process: ServerProcess | null = null;

  constructor(
    readonly target: Target,
    private readonly directory: string,
  ) {}

  async start(): Promise<void> {
    const { hostname, port } = this.target;
    this.process = await serveProcess([
      ...['--host', hostname, '--port', String(port), '--data', this.directory],
      ...FLAGS,
    ]);
    await this.ready();
  }

  /** `kill -9` and a new start, as a supervisor does it. */
  async kill(): Promise<void> {
    const { process } = this;
    const killedMs = performance.now();
    process?.signal('SIGKILL');
    await process?.exited;
    await this.start();
    this.readyAfterMs.push(performance.now() - killedMs);
  }

  /** What the server that runs now has said on standard error. */
  log(): string {
    return this.process?.log() ?? '';
  }

  private async ready(): Promise<void> {
    const url = `http://${this.target.hostname}:${this.target.port}/readyz`;
    const giveUpMs = performance.now() + READY_MAX_MS;
    for (;;) {
      const response = await fetch(url).catch(() => null);
      if (response?.status === 200) return;
      if (performance.now() > giveUpMs) throw new Error(`not ready: ${this.log()}`);
      await Bun.sleep(LOOK_MS);
    }
  }
}

/** A port of 127.0.0.1 that is free now. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
