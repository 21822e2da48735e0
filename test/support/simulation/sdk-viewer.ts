import { join } from '../../../sdk/join.ts';
import type { Viewer } from '../../../sdk/viewer.ts';
import type { Scheduler } from '../scheduler.ts';
import { VirtualMachine } from '../sdk/virtual-time/virtual-environment.ts';
import type { Balancer } from './balancer.ts';
import { ClientNetwork, type Observer, ORIGIN } from './client-network.ts';

export interface SdkViewerOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly balancer: Balancer;
  readonly observer: Observer;
  readonly streamId: string;
  readonly viewerId: string;
}

const CHAT_MS_MIN = 400;
const CHAT_MS_SPREAD = 1_200;

/** A viewer: the real SDK on a machine of its own. It answers quizzes, most of them in time. */
export class SdkViewer {
  readonly machine: VirtualMachine;
  readonly network: ClientNetwork;
  readonly viewer: Viewer;
  private isQuiet = false;

  constructor(private readonly options: SdkViewerOptions) {
    const { scheduler, random, balancer, observer, streamId, viewerId } = options;
    const pick = <T>(...values: T[]) => values[Math.floor(random() * values.length)] as T;
    this.network = new ClientNetwork({
      ...{ scheduler, random, balancer, observer, roaming: pick(0, 0, 0.2, 1) },
      receive: (run) => this.machine.receive(run),
    });
    this.machine = new VirtualMachine(scheduler, {
      fetch: this.network.fetch,
      random,
      clockRate: 1 + (random() - 0.5) * 80e-6,
      systemErrorMs: pick(0, 20, -3_000, 3_600_000),
      canStream: random() < 0.9,
      timerDelayMs: pick(0, 20),
    });
    this.viewer = join({
      baseUrl: ORIGIN,
      streamId,
      viewerId,
      transport: pick('auto', 'stream', 'poll'),
      storage: null,
      environment: this.machine.environment,
    });
    this.viewer.on('quiz', (quiz) => {
      // Most choose the first one that comes to mind, so that some win.
      const choice = quiz.order[Math.floor(random() ** 2 * quiz.order.length)] as string;
      scheduler.after(random() * quiz.duration * 1.1, () =>
        this.machine.receive(() => void this.answer(quiz.id, choice)),
      );
    });
  }

  /** Posts to the chat now and then. @param text of the next message */
  chat(text: () => string): void {
    const { scheduler, random } = this.options;
    const post = () => {
      if (this.isQuiet) return;
      scheduler.after(CHAT_MS_MIN + random() * CHAT_MS_SPREAD, post);
      this.machine.receive(() => {
        this.viewer.sendHeart();
        void this.viewer.sendMessage('message', text()).catch(() => {});
      });
    };
    scheduler.after(random() * CHAT_MS_SPREAD, post);
  }

  /** Posts nothing more. */
  stopChat(): void {
    this.isQuiet = true;
  }

  leave(): void {
    this.viewer.leave();
  }

  private async answer(quizId: string, choice: string): Promise<void> {
    if (this.viewer.quiz?.quiz.id !== quizId) return;
    await this.viewer.answer(choice).catch(() => {});
  }
}
