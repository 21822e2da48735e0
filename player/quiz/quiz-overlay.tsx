import type { Snapshot, Viewer } from '../../sdk/viewer.ts';

/** The quiz on screen, over the picture; on phones a sheet from the bottom. */
export function QuizOverlay({ snapshot }: { viewer: Viewer; snapshot: Snapshot }) {
  return snapshot.quiz ? <section aria-label="Quiz">{snapshot.quiz.quiz.question}</section> : null;
}
