import { join } from '../../../../sdk/join.ts';
import type { JoinOptions } from '../../../../sdk/join-options.ts';
import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import { pictureOf } from '../../../../sdk/pictures.ts';
import type { EventsInterval, Picture } from '../../../../sdk/types.ts';
import type { AnswerOutcome, Viewer } from '../../../../sdk/viewer.ts';
import type { Scheduler } from './scheduler.ts';
import { type Period, VirtualMachine } from './virtual-environment.ts';
import { VirtualNetwork } from './virtual-network.ts';

/** What a viewer was told, and when. */
export type Told =
  | { readonly kind: 'interval'; readonly atMs: number; readonly interval: EventsInterval }
  | {
      readonly kind: 'gap';
      readonly atMs: number;
      readonly from: number;
      readonly to: number;
      /** How far off the viewer's clock was at most. */
      readonly errorMs: number;
    }
  | { readonly kind: 'jump'; readonly atMs: number; readonly to: number };

/** An answer, and what the viewer was told about it. */
export interface GivenAnswer {
  readonly quizId: string;
  readonly choice: string;
  outcome: AnswerOutcome | 'refused' | null;
}

export interface GuestOptions {
  readonly viewerId: string;
  readonly transport: 'auto' | 'stream' | 'poll';
  readonly canStream: boolean;
  readonly catchUpMs: number;
  readonly hiddenMs: number;
  /** Ms of the machine's clock in a true ms. */
  readonly pace: number;
  readonly systemErrorMs: number;
  /** Its timers come late by up to so many ms. */
  readonly lateMs: number;
  /** How far its picture is behind; null: it has none. */
  readonly latencyMs: number | null;
}

/** A viewer on a machine and a network of its own. */
export class SimulatedViewer {
  readonly machine: VirtualMachine;
  readonly network: VirtualNetwork;
  readonly viewer: Viewer;
  readonly told: Told[] = [];
  readonly answers: GivenAnswer[] = [];
  /** When something besides a sleep kept things from coming. */
  readonly outages: Period[] = [];
  /** The most by which its clock ever went back, ms. */
  clockBackMs = 0;
  #clockMs = Number.NEGATIVE_INFINITY;
  /** Picks the choice of a quiz, and when it is made. */
  readonly #random: () => number;

  constructor(
    readonly scheduler: Scheduler,
    readonly service: MockService,
    random: () => number,
    readonly options: GuestOptions,
  ) {
    this.#random = random;
    this.network = new VirtualNetwork(scheduler, random, service.fetch);
    const fetch: VirtualNetwork['fetch'] = async (url, init) => {
      const answer = await this.network.fetch(url, init);
      if (url.endsWith('/time')) this.#lookAroundSample();
      return answer;
    };
    this.machine = new VirtualMachine(scheduler, { ...options, fetch, random });
    this.network.machine = this.machine;
    this.viewer = join(this.#joinOptions());
    this.#listen();
    if (options.latencyMs !== null) this.viewer.follow(this.#picture(options.latencyMs));
  }

  lookAtClock(): void {
    const { clock } = this.viewer;
    if (clock.errorMs === Number.POSITIVE_INFINITY) return;
    const nowMs = clock.nowMs();
    this.clockBackMs = Math.max(this.clockBackMs, this.#clockMs - nowMs);
    this.#clockMs = nowMs;
  }

  /** Samples are what may set it back. */
  #lookAroundSample(): void {
    this.lookAtClock();
    this.scheduler.after(0, () => this.lookAtClock());
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

  #listen(): void {
    const { viewer, told } = this;
    const now = () => this.scheduler.nowMs;
    viewer.on('interval', (interval) => told.push({ kind: 'interval', atMs: now(), interval }));
    viewer.on('gap', (gap) =>
      told.push({ kind: 'gap', atMs: now(), ...gap, errorMs: viewer.clock.errorMs }),
    );
    viewer.on('jump', ({ interval: to }) => told.push({ kind: 'jump', atMs: now(), to }));
    viewer.on('quiz', (quiz) => {
      const choice = quiz.order[Math.floor(this.#random() * quiz.order.length)] as string;
      // Some are slower than they may be.
      const slowMs = this.#random() * quiz.duration * 1.1;
      this.scheduler.after(slowMs, () =>
        this.machine.receive(() => void this.#answer(quiz.id, choice)),
      );
    });
  }

  async #answer(quizId: string, choice: string): Promise<void> {
    if (this.viewer.quiz?.quiz.id !== quizId) return;
    const answer: GivenAnswer = { quizId, choice, outcome: null };
    this.answers.push(answer);
    answer.outcome = await this.viewer.answer(choice).catch(() => 'refused' as const);
  }

  /** Live, and always so far behind; there is none in the first second. */
  #picture(latencyMs: number): Picture {
    const fromMs = this.scheduler.nowMs + 1_000;
    return pictureOf(() =>
      this.scheduler.nowMs < fromMs ? null : this.scheduler.nowMs - latencyMs,
    );
  }
}
