import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { type ServerProcess, serveProcess } from '../harness/program.ts';
import type { Target } from './retrying-client.ts';

// Rate limits that many clients on one address do not reach, and a log of errors.
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--log-level', 'error'],
];
const POLL_MS = 5;
const READY_MAX_MS = 20_000;

/** Measurements of one restart, in ms from the kill. */
export interface Restart {
  /** Until the killed process had exited. */
  readonly exitedMs: number;
  /** Until the new process listened. */
  readonly listeningMs: number;
  /** Until `/readyz` returned 200. */
  readonly readyMs: number;
  /** Part of `readyMs` for which the new process waited for a core. */
  readonly queuedMs: number;
  /** Load average over a minute. */
  readonly load: number;
}

/** A server that is killed and restarted on the same port and data directory. */
export class KillableServer {
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
    await this.waitUntilReady();
  }

  /** Kills the server with SIGKILL and restarts it. */
  async kill(): Promise<void> {
    const { process } = this;
    const killedMs = performance.now();
    process?.signal('SIGKILL');
    await process?.exited;
    const exitedMs = performance.now() - killedMs;
    await this.start();
    const readyMs = performance.now() - killedMs;
    const listeningMs = exitedMs + (this.process?.startMs ?? Number.NaN);
    const queuedMs = queuedMsOf(this.process?.pid);
    const load = loadavg()[0] ?? Number.NaN;
    this.restarts.push({ exitedMs, listeningMs, readyMs, queuedMs, load });
  }

  /** Standard error of the current process. */
  log(): string {
    return this.process?.log() ?? '';
  }

  private async waitUntilReady(): Promise<void> {
    const url = `http://${this.target.hostname}:${this.target.port}/readyz`;
    const deadlineMs = performance.now() + READY_MAX_MS;
    for (;;) {
      const response = await fetch(url).catch(() => null);
      if (response?.status === 200) return;
      if (performance.now() > deadlineMs) throw new Error(`the server is not ready: ${this.log()}`);
      await Bun.sleep(POLL_MS);
    }
  }
}

/** Time for which the main thread of a process waited for a core; 0 where it cannot be measured. */
export function queuedMsOf(pid: number | undefined): number {
  try {
    const [, queuedNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(queuedNs) / 1e6;
  } catch {
    return 0;
  }
}
