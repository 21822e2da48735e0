import type { Logger } from 'pino';
import type { Role } from '../../../protocol/operation.ts';
import type { CrowdFigures } from '../../../protocol/rehearsal.ts';
import type { Listener } from '../../http/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { MetricDefinition } from '../../platform/metrics.ts';
import { Pace } from '../../platform/pace.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { CrowdThreadCommand, CrowdThreadEvent } from './crowd-messages.ts';
import type { RehearsalRow, rehearsalProcedures } from './rehearsals-sql.ts';
import type { removalProcedures } from './removal-sql.ts';

/** A thread with the simulated viewers of a rehearsal. */
export interface CrowdThread {
  send(message: CrowdThreadCommand): void;
  /** Terminates the thread and its connections. */
  stop(): void;
}

export interface RehearsalRunnerOptions {
  readonly store: Pick<Calls<typeof rehearsalProcedures>, 'reportRehearsal'> &
    Calls<typeof removalProcedures>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Unique id of this process. */
  readonly node: string;
  /** The address of this node's own listener; null until it listens. */
  readonly localAddress: () => { readonly hostname: string; readonly port: number } | null;
  /** The roles of this node, which serves its simulated viewers itself. */
  readonly roles: ReadonlySet<Role>;
  /** @throws DomainError, Unavailable */
  readonly issueToken: (streamId: string, identifier: string) => Promise<string>;
  /** Starts a thread; a `Worker` by default. */
  readonly startThread?: (onMessage: (message: CrowdThreadEvent) => void) => CrowdThread;
  /** Calls `tick` periodically, by default once a second. @returns a function that stops it */
  readonly startTimer?: (tick: () => void) => () => void;
  /** Waits before the next attempt to save the last results. */
  readonly pause?: (ms: number) => Promise<void>;
}

const NEEDED_ROLES = ['view-counts', 'polls', 'events'] as const satisfies Role[];
const REPORT_MS = 1_000;
/** Attempts to save the last results while the database is unavailable, one a second: a minute. */
const LAST_REPORT_TRIES_MAX = 60;
const CLEANUP_MS = 10_000;
/** Removal transactions in a row, each of a bounded number of rows. */
const REMOVAL_STEPS_MAX = 100;
/** Time for the viewers' last checks after the end of the show. */
const FINISH_TIMEOUT_MS = 10_000;

interface RunningRehearsal {
  readonly thread: CrowdThread;
  /** Stops the timer of reports to the database. */
  readonly stopReports: () => void;
  figures: CrowdFigures | null;
  isReporting: boolean;
  /** Ends viewers that do not finish in time; null until they must finish. */
  finishTimer: Timer | null;
}

/**
 * Runs the simulated viewers of rehearsals on this node (SPEC Y). It saves their results in the
 * database each second and learns there when to end them, so that any node can serve requests about
 * a rehearsal.
 */
export class RehearsalRunner {
  private readonly running = new Map<string, RunningRehearsal>();
  private cleanupTimer: Timer | undefined;
  private isStopped = false;
  private isCleaning = false;

  constructor(private readonly options: RehearsalRunnerOptions) {}

  /** The id of this process in the database. */
  get node(): string {
    return this.options.node;
  }

  /** Starts to remove data of dismissed and expired rehearsals. */
  start(): void {
    this.cleanupTimer = runtime.setInterval(() => void this.cleanUp(), CLEANUP_MS);
  }

  /** Why this node cannot run rehearsals; null when it can. */
  unavailableReason(): string | null {
    const missing = NEEDED_ROLES.filter((role) => !this.options.roles.has(role));
    return missing.length === 0
      ? null
      : `This node cannot run a rehearsal: it lacks the roles ${missing.join(', ')}.`;
  }

  /** Starts the viewers of a rehearsal if this node is to run them and does not yet. */
  run({ streamId, node, settings, ended }: RehearsalRow): void {
    const { startThread = runThread, startTimer = startReportTimer, logger } = this.options;
    const address = this.options.localAddress();
    if (node !== this.options.node || ended !== null || !address || this.isStopped) return;
    if (this.running.has(streamId)) return;
    const thread = startThread((message) => void this.receive(streamId, message));
    const stopReports = startTimer(() => void this.report(streamId));
    const initial = { figures: null, isReporting: false, finishTimer: null };
    this.running.set(streamId, { thread, stopReports, ...initial });
    logger.info({ viewers: settings.viewers }, 'rehearsal started');
    thread.send({ kind: 'start', ...address, streamId, settings });
  }

  /** Ends a rehearsal's viewers on this node at once; another node ends them at its next report. */
  dismiss(streamId: string): void {
    const running = this.running.get(streamId);
    if (!running) return;
    this.running.delete(streamId);
    running.stopReports();
    if (running.finishTimer) runtime.clearTimer(running.finishTimer);
    running.thread.stop();
  }

  /** Ends all viewers without a last report; their rehearsals become `lost`. */
  stop(): void {
    this.isStopped = true;
    runtime.clearTimer(this.cleanupTimer);
    for (const streamId of [...this.running.keys()]) this.dismiss(streamId);
  }

  /** Removes data of dismissed and expired rehearsals, unless an earlier call still does so. */
  async cleanUp(): Promise<void> {
    if (this.isCleaning) return;
    this.isCleaning = true;
    const { store, clock } = this.options;
    const pace = new Pace();
    try {
      for (let times = 0; times < REMOVAL_STEPS_MAX; times++) {
        const remove = () => store.removeRehearsal({ nowMs: clock.nowMs() });
        if (!(await pace.step(remove))) return;
      }
    } catch (error) {
      this.logError(error, 'rehearsal data could not be removed');
    } finally {
      this.isCleaning = false;
    }
  }

  /** The number of rehearsals; no label names one. */
  get metrics(): MetricDefinition[] {
    return [
      {
        kind: 'gauge',
        name: 'fourbeat_rehearsals',
        help: 'Rehearsals whose simulated viewers this process runs.',
        read: () => [[this.running.size]],
      },
    ];
  }

  private async receive(streamId: string, message: CrowdThreadEvent): Promise<void> {
    const running = this.running.get(streamId);
    if (!running) return;
    if (message.kind === 'figures') {
      running.figures = message.figures;
      if (message.isLast) await this.end(streamId);
    } else if (message.kind === 'token-request') {
      const { identifier } = message;
      const token = await this.options.issueToken(streamId, identifier).catch(() => null);
      running.thread.send({ kind: 'token', identifier, token });
    } else {
      const { reason } = message;
      this.options.logger.warn({ reason }, 'rehearsal ended because its viewers failed');
      this.dismiss(streamId);
    }
  }

  /** Saves the results so far and ends the viewers if the database says so. */
  private async report(streamId: string): Promise<void> {
    const running = this.running.get(streamId);
    if (!running || running.isReporting) return;
    running.isReporting = true;
    try {
      const outcome = await this.saveReport(streamId, running, false);
      if (outcome === 'gone') this.dismiss(streamId);
      if (outcome === 'over' && running.finishTimer === null) {
        running.thread.send({ kind: 'finish' });
        running.finishTimer = runtime.setTimeout(() => void this.end(streamId), FINISH_TIMEOUT_MS);
      }
    } catch (error) {
      this.logError(error, 'a rehearsal report could not be saved');
    } finally {
      running.isReporting = false;
    }
  }

  private async end(streamId: string): Promise<void> {
    const running = this.running.get(streamId);
    if (!running) return;
    this.dismiss(streamId);
    await this.saveLastReport(streamId, running);
  }

  /** Without its last report a rehearsal becomes `lost`, and the last mismatch is missing. */
  private async saveLastReport(streamId: string, running: RunningRehearsal): Promise<void> {
    const { pause = runtime.sleep } = this.options;
    for (let tries = 1; ; tries++) {
      try {
        await this.saveReport(streamId, running, true);
        return;
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === LAST_REPORT_TRIES_MAX) return;
      }
      await pause(REPORT_MS);
      if (this.isStopped) return;
    }
  }

  private saveReport(id: string, { figures }: RunningRehearsal, isLast: boolean) {
    const { store, node, clock } = this.options;
    return store.reportRehearsal({ id, node, figures, isLast, nowMs: clock.nowMs() });
  }

  /** Logs a failure, except that of an unavailable database, which its connection logs. */
  private logError(error: unknown, message: string): void {
    if (!(error instanceof Unavailable)) this.options.logger.warn({ err: error }, message);
  }
}

function startReportTimer(tick: () => void): () => void {
  const timer = runtime.setInterval(tick, REPORT_MS);
  return () => runtime.clearTimer(timer);
}

/** The loopback or bound address of a listener; null until it listens. */
export function localAddressOf({ host }: { readonly host: string | null }, { server }: Listener) {
  if (!server?.port) return null;
  const isAny = host === null || host === '0.0.0.0' || host === '::';
  return { hostname: isAny ? '127.0.0.1' : host, port: server.port };
}

function runThread(onMessage: (message: CrowdThreadEvent) => void): CrowdThread {
  const worker = new Worker(new URL('./crowd-thread.ts', import.meta.url).href);
  worker.onmessage = ({ data }: MessageEvent<CrowdThreadEvent>) => onMessage(data);
  worker.onerror = ({ message }) => onMessage({ kind: 'failed', reason: message });
  return {
    send: (message) => worker.postMessage(message),
    stop: () => worker.terminate(),
  };
}
