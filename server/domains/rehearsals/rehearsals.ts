import type { Logger } from 'pino';
import type { Role } from '../../../protocol/operation.ts';
import type { CrowdFigures } from '../../../protocol/rehearsal.ts';
import type { Listener } from '../../http/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Reading } from '../../platform/metrics.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { FromCrowdThread, ToCrowdThread } from './crowd-messages.ts';
import type { RehearsalRow, rehearsalProcedures } from './rehearsals-sql.ts';
import type { removalProcedures } from './removal-sql.ts';

/** A thread with the viewers of a rehearsal. */
export interface CrowdThread {
  tell(message: ToCrowdThread): void;
  /** Ends it at once, with all that it has open. */
  stop(): void;
}

export interface RehearsalsOptions {
  readonly store: Pick<Calls<typeof rehearsalProcedures>, 'reportRehearsal'> &
    Calls<typeof removalProcedures>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Names this process: what another sent is not ours. */
  readonly node: string;
  /** Where viewers of this machine reach the service; null until it listens. */
  readonly place: () => { readonly hostname: string; readonly port: number } | null;
  /** What runs here: viewers come by this node's own port. */
  readonly roles: ReadonlySet<Role>;
  /** @throws what the database or a rule says */
  readonly issueToken: (streamId: string, identifier: string) => Promise<string>;
  /** Starts a thread; by default one of the runtime's. */
  readonly startThread?: (onMessage: (message: FromCrowdThread) => void) => CrowdThread;
  /** Calls `tick` again and again. @returns what ends it; once a second by default */
  readonly repeat?: (tick: () => void) => () => void;
}

const NEEDED_ROLES = ['view-counts', 'polls', 'events'] as const satisfies Role[];
const REPORT_MS = 1_000;
const TIDY_MS = 10_000;
/** In a row, each a transaction of a bounded number of rows. */
const REMOVALS_AT_ONCE = 50;
/** After a show is over, its viewers have so long for their last checks. */
const LAST_MS = 10_000;

interface Running {
  readonly thread: CrowdThread;
  /** Ends the reports to the database. */
  readonly hush: () => void;
  figures: CrowdFigures | null;
  isReporting: boolean;
  /** The show is over, and they were told so; ends them when they do not answer. */
  ending: Timer | null;
}

/**
 * The rehearsals whose viewers this node sends (SPEC Y). What they tell is in the database each second, and
 * the database says when they are to go, so that any node may ask and any node may end them.
 */
export class Rehearsals {
  private readonly running = new Map<string, Running>();
  private tidying: Timer | undefined;
  private isStopped = false;

  constructor(private readonly options: RehearsalsOptions) {}

  /** Names this process, as the database has it. */
  get node(): string {
    return this.options.node;
  }

  /** Removes what is over, from here on. */
  begin(): void {
    this.tidying = setInterval(() => void this.tidy(), TIDY_MS);
  }

  /** Why this node can send no viewers, or null. */
  unable(): string | null {
    const missing = NEEDED_ROLES.filter((role) => !this.options.roles.has(role));
    return missing.length === 0
      ? null
      : `This node has no viewers for a rehearsal: it lacks the roles ${missing.join(', ')}.`;
  }

  /** Sends the viewers of a rehearsal, unless another node does, or this one already. */
  send({ streamId, node, settings, ended }: RehearsalRow): void {
    const { place, startThread = runThread, repeat = eachSecond, logger } = this.options;
    const where = place();
    if (node !== this.options.node || ended !== null || !where || this.isStopped) return;
    if (this.running.has(streamId)) return;
    const thread = startThread((message) => void this.heard(streamId, message));
    const hush = repeat(() => void this.report(streamId));
    const running: Running = { thread, hush, figures: null, isReporting: false, ending: null };
    this.running.set(streamId, running);
    logger.info({ viewers: settings.viewers }, 'a rehearsal begins');
    thread.tell({ kind: 'begin', ...where, streamId, settings });
  }

  /** Sends the viewers of a rehearsal home that nobody wants any more; those of others hear of it soon. */
  dismissed(streamId: string): void {
    this.forget(streamId);
  }

  /** Sends everybody home without a word: who asks is told that they are lost. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.tidying);
    for (const streamId of [...this.running.keys()]) this.forget(streamId);
  }

  /** Removes what is kept of rehearsals that are over. */
  async tidy(): Promise<void> {
    const { store, clock } = this.options;
    try {
      for (let times = 0; times < REMOVALS_AT_ONCE; times++) {
        if (!(await store.removeRehearsal({ nowMs: clock.nowMs() }))) return;
      }
    } catch (error) {
      this.warn(error, 'a rehearsal is not removed');
    }
  }

  /** What metrics say: how many there are, and of none which it is. */
  get readings(): Reading[] {
    return [
      {
        kind: 'gauge',
        name: 'fourbeat_rehearsals',
        help: 'Rehearsals whose synthetic viewers this process sends.',
        read: () => [[this.running.size]],
      },
    ];
  }

  private async heard(streamId: string, message: FromCrowdThread): Promise<void> {
    const running = this.running.get(streamId);
    if (!running) return;
    if (message.kind === 'figures') {
      running.figures = message.figures;
      if (message.isLast) await this.end(streamId);
    } else if (message.kind === 'token-please') {
      const { identifier } = message;
      const token = await this.options.issueToken(streamId, identifier).catch(() => null);
      running.thread.tell({ kind: 'token', identifier, token });
    } else {
      this.options.logger.warn({ reason: message.reason }, 'a rehearsal ends: its viewers failed');
      this.forget(streamId);
    }
  }

  /** Says in the database how things stand, and hears whether they go on. */
  private async report(streamId: string): Promise<void> {
    const running = this.running.get(streamId);
    if (!running || running.isReporting) return;
    running.isReporting = true;
    try {
      const outcome = await this.tell(streamId, running, false);
      if (outcome === 'gone') this.forget(streamId);
      if (outcome === 'over' && running.ending === null) {
        running.thread.tell({ kind: 'finish' });
        running.ending = setTimeout(() => void this.end(streamId), LAST_MS);
      }
    } catch (error) {
      // A record that is unavailable says nothing about the rehearsal.
      if (!(error instanceof Unavailable)) {
        this.options.logger.warn({ err: error }, 'a rehearsal cannot be told of');
      }
    } finally {
      running.isReporting = false;
    }
  }

  private async end(streamId: string): Promise<void> {
    const running = this.running.get(streamId);
    if (!running) return;
    this.forget(streamId);
    await this.tell(streamId, running, true).catch(() => {});
  }

  private tell(id: string, { figures }: Running, isLast: boolean) {
    const { store, node, clock } = this.options;
    return store.reportRehearsal({ id, node, figures, isLast, nowMs: clock.nowMs() });
  }

  /** Tells of a defect; that the database is unavailable is none. */
  private warn(error: unknown, what: string): void {
    if (!(error instanceof Unavailable)) this.options.logger.warn({ err: error }, what);
  }

  private forget(streamId: string): void {
    const running = this.running.get(streamId);
    if (!running) return;
    this.running.delete(streamId);
    running.hush();
    if (running.ending) clearTimeout(running.ending);
    running.thread.stop();
  }
}

function eachSecond(tick: () => void): () => void {
  const timer = setInterval(tick, REPORT_MS);
  return () => clearInterval(timer);
}

/** Where viewers of this machine reach a service; null until it listens. */
export function placeOf({ host }: { readonly host: string | null }, { server }: Listener) {
  if (!server?.port) return null;
  const isAny = host === null || host === '0.0.0.0' || host === '::';
  return { hostname: isAny ? '127.0.0.1' : host, port: server.port };
}

function runThread(onMessage: (message: FromCrowdThread) => void): CrowdThread {
  const worker = new Worker(new URL('./crowd-thread.ts', import.meta.url).href);
  worker.onmessage = ({ data }: MessageEvent<FromCrowdThread>) => onMessage(data);
  worker.onerror = ({ message }) => onMessage({ kind: 'failed', reason: message });
  return {
    tell: (message) => worker.postMessage(message),
    stop: () => worker.terminate(),
  };
}
