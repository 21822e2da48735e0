import type { CueMoment } from '../../player/sound/cues.ts';
import type { PresenterQuiz, PresenterState } from '../../protocol/presenter.ts';
import type { RoundWinner } from '../../protocol/winners.ts';

/** What the display shows. */
export type Scene =
  | { readonly kind: 'title' }
  | { readonly kind: 'over' }
  | {
      readonly kind: 'quiz';
      readonly quiz: PresenterQuiz;
      /** Time for which viewers see the quiz open, ms; 0: time is up. */
      readonly remainingMs: number;
    }
  | {
      readonly kind: 'winners';
      /** null: the winners are being counted. */
      readonly count: number | null;
      readonly first: readonly RoundWinner[];
    };

/** The scene of a state. @param nowMs service time, Unix ms */
export function sceneOf({ stream, quiz, winners }: PresenterState, nowMs: number): Scene {
  const isOpen = quiz?.state === 'open';
  if (stream.status === 'ENDED' && !isOpen) return { kind: 'over' };
  if (winners) return { kind: 'winners', ...winners };
  if (!quiz) return { kind: 'title' };
  // The countdown that viewers see, without the latency allowance.
  const remainingMs = quiz.created + quiz.duration - nowMs;
  return { kind: 'quiz', quiz, remainingMs: isOpen ? Math.max(0, remainingMs) : 0 };
}

/** What has sounds in a scene; null: there is no scene yet. */
export function cueMomentOf(scene: Scene | null): CueMoment | null {
  if (scene === null) return null;
  const isQuiz = scene.kind === 'quiz';
  return {
    quizId: isQuiz ? scene.quiz.id : null,
    remainingS: isQuiz ? Math.ceil(scene.remainingMs / 1_000) : 0,
    hasWinners: scene.kind === 'winners' && (scene.count ?? 0) > 0,
  };
}

/** A key for scenes that disappear after a time; null: the scene stays. */
export function timeoutKey(scene: Scene): string | null {
  if (scene.kind === 'over') return 'over';
  if (scene.kind === 'winners') return scene.count === null ? null : 'winners';
  return scene.kind === 'quiz' && scene.quiz.results ? scene.quiz.id : null;
}

/** Replaces results, winners and the end of a show by the title after a time. */
export class SceneTimeout {
  #key: string | null = null;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #isFirst = true;

  /** @param holdMs time for which a scene stays, ms; null: no limit */
  constructor(private readonly holdMs: number | null) {}

  /** The scene to show. @param nowMs any monotonic clock */
  apply(scene: Scene, nowMs: number): Scene {
    const key = timeoutKey(scene);
    if (key !== this.#key) {
      this.#key = key;
      // A scene that is present at the start counts as expired.
      this.#sinceMs = this.#isFirst ? Number.NEGATIVE_INFINITY : nowMs;
    }
    this.#isFirst = false;
    if (key === null || this.holdMs === null) return scene;
    return nowMs - this.#sinceMs < this.holdMs ? scene : { kind: 'title' };
  }
}
