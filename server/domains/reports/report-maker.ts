import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import {
  afterAnswers,
  afterIntervals,
  afterViewers,
  nextStep,
  type Progress,
  progressAtBegin,
  reportOf,
  type Step,
  shareDone,
} from './progress.ts';
import { type ClaimedReport, type reportProcedures, TRIES_MAX } from './reports-sql.ts';
import type { showProcedures } from './show-sql.ts';

export interface ReportMakerOptions {
  readonly store: Calls<typeof reportProcedures> & Calls<typeof showProcedures>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** Waits between two pages, in ms: those who run shows go first. */
  readonly pause?: (ms: number) => Promise<void>;
}

const POLL_MS = 1_000;
/** How often it is kept how far a report is. */
const KEEP_MS = 500;
const FIRST_WAIT_MS = 5_000;
const WAIT_MAX_MS = 3_600_000;

/** Makes reports of shows that are over, beside other nodes that do the same (SPEC J). */
export class ReportMaker {
  private timer: Timer | null = null;
  private making: Promise<void> | null = null;
  private stopped = false;

  constructor(private readonly options: ReportMakerOptions) {}

  /** Makes what is due, from here on. */
  begin(): void {
    this.timer = setInterval(() => void this.makeAll(), POLL_MS);
  }

  /** Makes all that is due now, one after the other, and resolves when it is done. */
  makeAll(): Promise<void> {
    this.making ??= this.work().finally(() => {
      this.making = null;
    });
    return this.making;
  }

  /** Takes no more, and leaves what is under way to other nodes. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.stopped = true;
    await this.making;
  }

  private async work(): Promise<void> {
    const { store, clock, newId } = this.options;
    try {
      while (!this.stopped) {
        const { over, due } = await store.findReportWork({ nowMs: clock.nowMs() });
        if (over) await store.orderReports({ nowMs: clock.nowMs() });
        if (!over && !due) return;
        const claimed = await store.claimReport({ lease: newId(), nowMs: clock.nowMs() });
        if (!claimed) return;
        await this.make(claimed);
      }
    } catch (error) {
      if (error instanceof Unavailable) return;
      this.options.logger.warn({ err: error }, 'reports could not be looked for');
    }
  }

  private async make(claimed: ClaimedReport): Promise<void> {
    const { store, clock, logger } = this.options;
    const { streamId, lease, tries } = claimed;
    try {
      await this.count(claimed);
    } catch (error) {
      // What is unavailable for a moment is told of elsewhere; a procedure that fails looks the same.
      const isPassing = error instanceof Unavailable && tries <= TRIES_MAX;
      if (!isPassing) logger.warn({ streamId, tries, err: error }, 'a report could not be made');
      const wait = Math.min(WAIT_MAX_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
      // When that cannot be kept either, it is due once the lease ends.
      await store.postponeReport({ streamId, lease, dueMs: clock.nowMs() + wait });
    }
  }

  private async count({ streamId, lease, progress: kept }: ClaimedReport): Promise<void> {
    const { store, clock, pause = Bun.sleep } = this.options;
    const show = await store.readShow({ streamId });
    if (!show) throw new Error(`stream ${streamId} is not over`);
    let progress = kept ?? progressAtBegin(show);
    let keptMs = clock.nowMs();
    for (;;) {
      const step = nextStep(show, progress);
      if (step.do === 'finish') break;
      const beganMs = performance.now();
      progress = await this.carryOut(streamId, progress, step);
      const howFar = { streamId, lease, progress, done: shareDone(show, progress) };
      const nowMs = clock.nowMs();
      if (this.stopped) return store.leaveReport({ ...howFar, nowMs });
      if (nowMs >= keptMs + KEEP_MS) {
        if (!(await store.keepReport({ ...howFar, nowMs }))) return;
        keptMs = nowMs;
      }
      await pause(performance.now() - beganMs);
    }
    await store.finishReport({ streamId, lease, report: reportOf(show, progress, clock.nowMs()) });
  }

  private async carryOut(
    streamId: string,
    progress: Progress,
    step: Exclude<Step, { do: 'finish' }>,
  ): Promise<Progress> {
    const { store } = this.options;
    if (step.do === 'intervals') {
      const { scope, feed } = progress;
      const page = { streamId, scope, next: step.next, figures: feed };
      const { figures, next } = await store.addIntervals(page);
      return afterIntervals(progress, figures, next);
    }
    if (step.do === 'viewers') {
      const { count, last } = await store.countViewers({ streamId, afterSeat: step.afterSeat });
      return afterViewers(progress, count, last);
    }
    const { quiz, afterSeat, figures } = step;
    const { toldInterval, closeInterval } = quiz;
    const asked = { toldInterval, closeInterval };
    const page = await store.addAnswers({ quiz: quiz.number, asked, afterSeat, figures });
    return afterAnswers(progress, quiz, page.figures, page.last);
  }
}
