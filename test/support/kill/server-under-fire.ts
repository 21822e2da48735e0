import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { type ServerProcess, serveProcess } from '../harness/program.ts';
import type { Target } from './requests.ts';

// What a crowd on one address needs, and a log that shows what went wrong.
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--log-level', 'error'],
];
const LOOK_MS = 5;
const READY_MAX_MS = 20_000;

/** One restart, in ms from the kill: what a slow one has to be explained by. */
export interface Restart {
  /** The killed process was gone. */
  readonly goneMs: number;
  /** The new one listened. */
  readonly listeningMs: number;
  /** `/readyz` was 200. */
  readonly readyMs: number;
  /** So much of that the new one waited for a core that others had. */
  readonly queuedMs: number;
  /** Processes that wanted a core, as the machine averages it over a minute. */
  readonly load: number;
}

/** A server that is killed and started again, always on the same port and data directory. */
export class ServerUnderFire {
  readonly restarts: Restart[] = [];
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
    const goneMs = performance.now() - killedMs;
    await this.start();
    const readyMs = performance.now() - killedMs;
    const listeningMs = goneMs + (this.process?.startMs ?? Number.NaN);
    const queuedMs = queuedMsOf(this.process?.pid);
    const load = loadavg()[0] ?? Number.NaN;
    this.restarts.push({ goneMs, listeningMs, readyMs, queuedMs, load });
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

/** How long the main thread of a process was ready to run and did not; 0 where Linux does not tell. */
function queuedMsOf(pid: number | undefined): number {
  try {
    const [, queuedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(queuedNs) / 1e6;
  } catch {
    return 0;
  }
}

/** A port of 127.0.0.1 that is free now. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
