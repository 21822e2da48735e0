import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import {
  afterAnswers,
  initialProgress,
  nextStep,
  type Progress,
  quizzesOfPart,
  type Show,
  type Step,
  shareDone,
} from './progress.ts';
import { reportPart } from './report-parts.ts';
import { type ClaimedReport, type reportProcedures, TRIES_MAX } from './reports-sql.ts';
import type { showProcedures } from './show-sql.ts';

export interface ReportMakerOptions {
  readonly store: Calls<typeof reportProcedures> & Calls<typeof showProcedures>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** Waits as long as the last page took, so that reports use the database half of the time. */
  readonly pause?: (ms: number) => Promise<void>;
}

const POLL_MS = 1_000;
/** How often progress is saved. */
const SAVE_MS = 500;
/** Backoff after a failure: doubles from the first to the maximum. */
const BACKOFF_MIN_MS = 5_000;
const BACKOFF_MAX_MS = 3_600_000;

/** Makes reports of finished shows (SPEC J). Any number of nodes share the work by leases. */
export class ReportMaker {
  private timer: Timer | null = null;
  private making: Promise<void> | null = null;
  private stopped = false;
  /** The account of the last claim. */
  private lastAccount = '';

  constructor(private readonly options: ReportMakerOptions) {}

  /** Starts to poll for due reports. */
  start(): void {
    this.timer = runtime.setInterval(() => void this.makeAll(), POLL_MS);
  }

  /** Makes all reports due now, one after the other; resolves when they are made. */
  makeAll(): Promise<void> {
    this.making ??= this.work().finally(() => {
      this.making = null;
    });
    return this.making;
  }

  /** Claims no more and releases the current report to other nodes. */
  async stop(): Promise<void> {
    if (this.timer) runtime.clearTimer(this.timer);
    this.stopped = true;
    await this.making;
  }

  private async work(): Promise<void> {
    const { store, clock, newId } = this.options;
    try {
      while (!this.stopped) {
        const { over, due } = await store.findReportWork({ nowMs: clock.nowMs() });
        // All before the next claim: the show of an account may end after 10,000 of another.
        while (over && !this.stopped && (await store.orderReports({ nowMs: clock.nowMs() })));
        if (!over && !due) return;
        const after = this.lastAccount;
        const claimed = await store.claimReport({ lease: newId(), after, nowMs: clock.nowMs() });
        if (!claimed) return;
        this.lastAccount = claimed.account;
        await this.make(claimed);
      }
    } catch (error) {
      if (error instanceof Unavailable) return;
      this.options.logger.warn({ err: error }, 'due reports could not be read');
    }
  }

  private async make(claimed: ClaimedReport): Promise<void> {
    const { store, clock, logger } = this.options;
    const { streamId, lease, tries } = claimed;
    try {
      await this.count(claimed);
    } catch (error) {
      // A short outage is logged elsewhere. A procedure that fails for good also throws Unavailable.
      const isTransient = error instanceof Unavailable && tries <= TRIES_MAX;
      if (!isTransient) logger.warn({ streamId, tries, err: error }, 'a report could not be made');
      const backoffMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** (tries - 1));
      // When this call fails too, the report is due again at the end of the lease.
      await store.postponeReport({ streamId, lease, dueMs: clock.nowMs() + backoffMs });
    }
  }

  private async count({ streamId, lease, progress: saved }: ClaimedReport): Promise<void> {
    const { store, clock, pause = runtime.sleep } = this.options;
    const show = await store.readShow({ streamId });
    if (!show) throw new Error(`stream ${streamId} has not ended`);
    let progress = saved ?? initialProgress(show);
    let savedMs = clock.nowMs();
    for (;;) {
      const step = nextStep(show, progress);
      if (step.do === 'finish') {
        await store.finishReport({ streamId, lease, parts: step.parts });
        return;
      }
      const startMs = runtime.monotonicMs();
      const next =
        step.do === 'write'
          ? await this.writePart({ streamId, lease }, show, progress, step.part)
          : await this.countPage(streamId, progress, step);
      if (!next) return;
      progress = next;
      const update = { streamId, lease, progress, done: shareDone(show, progress) };
      const nowMs = clock.nowMs();
      if (this.stopped) return store.releaseReport({ ...update, nowMs });
      if (nowMs >= savedMs + SAVE_MS) {
        if (!(await store.saveReportProgress({ ...update, nowMs }))) return;
        savedMs = nowMs;
      }
      await pause(runtime.monotonicMs() - startMs);
    }
  }

  /** @returns null when the lease is lost; nothing is stored */
  private async writePart(
    leased: Pick<ClaimedReport, 'streamId' | 'lease'>,
    show: Show,
    progress: Progress,
    part: number,
  ): Promise<Progress | null> {
    const { store, clock } = this.options;
    // All parts have one time, also those of different nodes.
    const made = progress.written?.made ?? clock.nowMs();
    const numbers = quizzesOfPart(show, progress, part).map(({ quiz }) => quiz.number);
    const results = await store.readQuizResults({ numbers });
    const text = reportPart(show, progress, { part, made }, results);
    if (!(await store.writeReportPart({ ...leased, part, made, text }))) return null;
    return { ...progress, written: { count: part + 1, made } };
  }

  private async countPage(
    streamId: string,
    progress: Progress,
    step: Exclude<Step, { do: 'write' | 'finish' }>,
  ): Promise<Progress> {
    const { store } = this.options;
    if (step.do === 'intervals') {
      const { scope, feed } = progress;
      const page = { streamId, scope, next: step.next, figures: feed };
      const { figures, next } = await store.addIntervals(page);
      return { ...progress, feed: figures, nextInterval: next };
    }
    if (step.do === 'viewers') {
      const { count, last } = await store.countViewers({ streamId, afterSeat: step.afterSeat });
      return { ...progress, viewers: progress.viewers + count, afterSeat: last };
    }
    const { quiz, afterSeat, figures } = step;
    const { toldInterval, closeInterval } = quiz;
    const window = { toldInterval, closeInterval };
    const page = await store.addAnswers({ quiz: quiz.number, window, afterSeat, figures });
    return afterAnswers(progress, quiz, page.figures, page.last);
  }
}
