import { type Cue, cuesOf } from './schedule.ts';
import { type StudioClient, StudioError } from './studio-client.ts';

export interface HostOptions {
  readonly studio: Pick<
    StudioClient,
    'createQuiz' | 'publishQuiz' | 'revealQuiz' | 'requestWinners' | 'sendEvent'
  >;
  readonly streamId: string;
  readonly quizEveryMs: number;
  readonly nowMs: () => number;
  /** Resolves early when the show is over. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly isOver: () => boolean;
  /** Called when the service acknowledged an event, which may appear in the feed after `inMs`. */
  readonly onExpected: (key: string, inMs: number) => void;
}

// Results may be some intervals late; the host retries until they are out.
const CONFLICT_TRIES_MAX = 40;
const CONFLICT_PAUSE_MS = 250;

/** The host of the show, who follows the schedule until its end. */
export class Host {
  private quizId = '';
  private rounds = 0;

  constructor(private readonly options: HostOptions) {}

  /** @throws StudioError when the service rejects a valid request */
  async run(): Promise<void> {
    const { nowMs, sleep, isOver, quizEveryMs } = this.options;
    const startMs = nowMs();
    for (let number = 0; ; number++) {
      for (const { atMs, cue } of cuesOf(number, quizEveryMs)) {
        await sleep(Math.max(0, startMs + atMs - nowMs()));
        if (isOver()) return;
        await this.performCue(cue);
      }
    }
  }

  private async performCue(cue: Cue): Promise<void> {
    const { studio, streamId, onExpected } = this.options;
    if (cue.kind === 'ask') {
      await this.ask(cue);
    } else if (cue.kind === 'reveal') {
      if (!(await this.untilNoConflict(() => studio.revealQuiz(this.quizId)))) return;
      onExpected(`quiz-results ${this.quizId}`, 0);
    } else if (cue.kind === 'request-winners') {
      if (!(await this.untilNoConflict(() => studio.requestWinners(streamId)))) return;
      this.rounds++;
      onExpected(`request-quiz-winners ${this.rounds}`, 0);
    } else {
      await studio.sendEvent(streamId, cue.type, cue.data);
      if (cue.type === 'purchase') onExpected(`purchase ${cue.data.text}`, 0);
      else if (cue.type !== 'discount') onExpected(`${cue.type} ${JSON.stringify(cue.data)}`, 0);
    }
  }

  private async ask({ trivia, durationMs, reveal }: Extract<Cue, { kind: 'ask' }>): Promise<void> {
    const { studio, streamId, onExpected } = this.options;
    const { question, choices, answer } = trivia;
    const draft = { question, choices: [...choices], answer, duration: durationMs, reveal };
    const { id } = await studio.createQuiz(streamId, draft);
    await studio.publishQuiz(id);
    this.quizId = id;
    onExpected(`quiz ${id}`, 0);
    if (reveal === 'auto') onExpected(`quiz-results ${id}`, durationMs);
  }

  /** Retries a write while it conflicts. @returns false when the show ended before it succeeded */
  private async untilNoConflict(write: () => Promise<unknown>): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        await write();
        return true;
      } catch (error) {
        const isConflict = error instanceof StudioError && error.status === 409;
        if (!isConflict || tries === CONFLICT_TRIES_MAX) throw error;
        await this.options.sleep(CONFLICT_PAUSE_MS);
        if (this.options.isOver()) return false;
      }
    }
  }
}
