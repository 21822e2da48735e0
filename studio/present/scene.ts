import type { PresenterQuiz, PresenterState } from '../../protocol/presenter.ts';

/** What there is to see. */
export type Scene =
  | { readonly kind: 'title' }
  | { readonly kind: 'over' }
  | {
      readonly kind: 'quiz';
      readonly quiz: PresenterQuiz;
      /** How long viewers see it open, ms; 0: time is up, or it is closed. */
      readonly remainingMs: number;
    }
  | { readonly kind: 'winners'; readonly count: number | null };

/** What a state shows at a moment of the service's time. */
export function sceneOf({ stream, quiz, winners }: PresenterState, nowMs: number): Scene {
  const isOpen = quiz?.state === 'open';
  if (stream.status === 'ENDED' && !isOpen) return { kind: 'over' };
  if (winners) return { kind: 'winners', count: winners.count };
  if (!quiz) return { kind: 'title' };
  // As viewers see it count down: the allowance for those whose picture comes late is after it.
  const leftMs = quiz.created + quiz.duration - nowMs;
  return { kind: 'quiz', quiz, remainingMs: isOpen ? Math.max(0, leftMs) : 0 };
}

/** Names what would be in the way after a while; null: it stays until what comes next. */
export function passingKey(scene: Scene): string | null {
  if (scene.kind === 'over') return 'over';
  if (scene.kind === 'winners') return scene.count === null ? null : 'winners';
  return scene.kind === 'quiz' && scene.quiz.results ? scene.quiz.id : null;
}

/** Takes away what was shown for long enough. */
export class Holding {
  #key: string | null = null;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #isFirst = true;

  /** @param holdMs null: nothing is taken away */
  constructor(private readonly holdMs: number | null) {}

  /** The scene, or that of a show in which nothing goes on. @param nowMs of any clock that goes on */
  of(scene: Scene, nowMs: number): Scene {
    const key = passingKey(scene);
    if (key !== this.#key) {
      this.#key = key;
      // What is there already when the page is opened is not news.
      this.#sinceMs = this.#isFirst ? Number.NEGATIVE_INFINITY : nowMs;
    }
    this.#isFirst = false;
    if (key === null || this.holdMs === null) return scene;
    return nowMs - this.#sinceMs < this.holdMs ? scene : { kind: 'title' };
  }
}
