import { join } from '../../../../sdk/join.ts';
import type { JoinOptions } from '../../../../sdk/join-options.ts';
import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import { pictureOf } from '../../../../sdk/pictures.ts';
import type { EventsInterval, Picture } from '../../../../sdk/types.ts';
import type { AnswerOutcome, Viewer } from '../../../../sdk/viewer.ts';
import type { Scheduler } from '../../scheduler.ts';
import { type Period, VirtualMachine } from './virtual-environment.ts';
import { VirtualNetwork } from './virtual-network.ts';

/** An event that the viewer received. */
export type ViewerLogEntry =
  | { readonly kind: 'interval'; readonly atMs: number; readonly interval: EventsInterval }
  | {
      readonly kind: 'gap';
      readonly atMs: number;
      readonly from: number;
      readonly to: number;
      /** The reported error of the viewer's clock. */
      readonly errorMs: number;
    }
  | { readonly kind: 'jump'; readonly atMs: number; readonly to: number };

/** An answer and its reported outcome. */
export interface AnswerLogEntry {
  readonly quizId: string;
  readonly choice: string;
  outcome: AnswerOutcome | 'refused' | null;
}

export interface SimulatedViewerOptions {
  readonly viewerId: string;
  readonly transport: 'auto' | 'stream' | 'poll';
  readonly canStream: boolean;
  readonly catchUpMs: number;
  readonly hiddenMs: number;
  /** Rate of the machine's clock, ms per true ms. */
  readonly clockRate: number;
  readonly systemErrorMs: number;
  /** Maximum delay of its timers, ms. */
  readonly timerDelayMs: number;
  /** Latency of its picture; null: none. */
  readonly latencyMs: number | null;
}

/** A viewer of event streams on an accurate machine, without a picture. */
export const NORMAL_VIEWER: SimulatedViewerOptions = {
  viewerId: 'ada',
  transport: 'auto',
  canStream: true,
  catchUpMs: 60_000,
  hiddenMs: Number.POSITIVE_INFINITY,
  clockRate: 1,
  systemErrorMs: 0,
  timerDelayMs: 0,
  latencyMs: null,
};

/** A viewer with its own machine and network. */
export class SimulatedViewer {
  readonly machine: VirtualMachine;
  readonly network: VirtualNetwork;
  readonly viewer: Viewer;
  readonly log: ViewerLogEntry[] = [];
  readonly answers: AnswerLogEntry[] = [];
  /** Times of faults that can delay the feed, sleeps excluded. */
  readonly outages: Period[] = [];
  /** Maximum step back of its clock, ms. */
  maxClockBackstepMs = 0;
  #lastClockMs = Number.NEGATIVE_INFINITY;
  /** Determines choices, and when they are made. */
  readonly #random: () => number;

  constructor(
    readonly scheduler: Scheduler,
    readonly service: MockService,
    random: () => number,
    readonly options: SimulatedViewerOptions,
  ) {
    this.#random = random;
    this.network = new VirtualNetwork(scheduler, random, service.fetch);
    const fetch: VirtualNetwork['fetch'] = async (url, init) => {
      const response = await this.network.fetch(url, init);
      if (url.endsWith('/time')) this.#checkClockAroundSample();
      return response;
    };
    this.machine = new VirtualMachine(scheduler, { ...options, fetch, random });
    this.network.machine = this.machine;
    this.viewer = join(this.#joinOptions());
    this.#recordEvents();
    if (options.latencyMs !== null) this.viewer.follow(this.#picture(options.latencyMs));
  }

  checkClockBackstep(): void {
    const { clock } = this.viewer;
    if (clock.errorMs === Number.POSITIVE_INFINITY) return;
    const nowMs = clock.nowMs();
    this.maxClockBackstepMs = Math.max(this.maxClockBackstepMs, this.#lastClockMs - nowMs);
    this.#lastClockMs = nowMs;
  }

  /** Checks around each sample, which could set the clock back. */
  #checkClockAroundSample(): void {
    this.checkClockBackstep();
    this.scheduler.after(0, () => this.checkClockBackstep());
  }

  #joinOptions(): JoinOptions {
    const { viewerId, transport, catchUpMs, hiddenMs } = this.options;
    return {
      baseUrl: 'https://mock.example',
      streamId: this.service.streamId,
      ...{ viewerId, transport, catchUpMs, hiddenMs, storage: null },
      environment: this.machine.environment,
    };
  }

  #recordEvents(): void {
    const { viewer, log } = this;
    const now = () => this.scheduler.nowMs;
    viewer.on('interval', (interval) => log.push({ kind: 'interval', atMs: now(), interval }));
    viewer.on('gap', (gap) =>
      log.push({ kind: 'gap', atMs: now(), ...gap, errorMs: viewer.clock.errorMs }),
    );
    viewer.on('jump', ({ interval: to }) => log.push({ kind: 'jump', atMs: now(), to }));
    viewer.on('quiz', (quiz) => {
      const choice = quiz.order[Math.floor(this.#random() * quiz.order.length)] as string;
      // Some answers are later than the quiz allows.
      const slowMs = this.#random() * quiz.duration * 1.1;
      this.scheduler.after(slowMs, () =>
        this.machine.receive(() => void this.#answer(quiz.id, choice)),
      );
    });
  }

  async #answer(quizId: string, choice: string): Promise<void> {
    if (this.viewer.quiz?.quiz.id !== quizId) return;
    const answer: AnswerLogEntry = { quizId, choice, outcome: null };
    this.answers.push(answer);
    answer.outcome = await this.viewer.answer(choice).catch(() => 'refused' as const);
  }

  /** A live picture with constant latency; it has no wall clock in the first second. */
  #picture(latencyMs: number): Picture {
    const fromMs = this.scheduler.nowMs + 1_000;
    return pictureOf(() =>
      this.scheduler.nowMs < fromMs ? null : this.scheduler.nowMs - latencyMs,
    );
  }
}
