import { ListOrdered } from 'lucide-react';
import { Link } from 'wouter';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { DialogButton } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { quizzesFromHere } from './quizzes-from-here.ts';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';

/** Quizzes that the list shows; the page of the rundown has all. */
const VISIBLE_MAX = 30;

interface RundownProps {
  readonly state: LiveState;
  /** In the order of the rundown. */
  readonly quizzes: readonly StudioQuiz[];
}

/** The quiz on screen and those that follow, on screens with room for them. */
export function RundownPanel({ state, quizzes }: RundownProps) {
  return (
    <StagePanel
      title={texts.rundown.title}
      place="rundown"
      aside={<EditLink streamId={state.stream.id} />}
    >
      <RundownList state={state} quizzes={quizzes} />
    </StagePanel>
  );
}

/** A button that opens the same list. */
export function RundownButton({ state, quizzes }: RundownProps) {
  const drafts = quizzes.filter((quiz) => quiz.state === 'draft').length;
  return (
    <DialogButton
      variant="quiet"
      icon={<ListOrdered />}
      title={texts.rundown.title}
      dialog={(close) => (
        <>
          <RundownList state={state} quizzes={quizzes} />
          <DialogActions>
            <EditLink streamId={state.stream.id} />
            <Button onPress={close} autoFocus>
              {texts.rundown.close}
            </Button>
          </DialogActions>
        </>
      )}
    >
      {texts.rundown.open(drafts)}
    </DialogButton>
  );
}

function EditLink({ streamId }: { readonly streamId: string }) {
  return (
    <Link
      href={`/streams/${streamId}/rundown`}
      className={`inline-flex min-h-8 items-center text-sm text-quiet underline hover:text-text ${FOCUS_RING}`}
    >
      {texts.rundown.edit}
    </Link>
  );
}

function RundownList({ state, quizzes }: RundownProps) {
  const shown = quizzesFromHere(quizzes, state.quiz);
  const next = shown.find((quiz) => quiz.state === 'draft');
  const isOver = state.stream.status === 'ENDED' || state.winners.length > 0;
  if (shown.length === 0) return <p className="text-quiet">{texts.rundown.empty}</p>;
  return (
    <>
      <ol
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label={texts.rundown.list}
        className={`grid min-h-0 gap-1 overflow-y-auto rounded-lg -outline-offset-3! ${FOCUS_RING}`}
      >
        {shown.slice(0, VISIBLE_MAX).map((quiz) => (
          <li
            key={quiz.id}
            className={classes(
              'flex items-center gap-3 rounded-lg px-2 py-1',
              quiz === next && 'bg-accent-soft',
            )}
          >
            <bdi className="line-clamp-2 min-w-0 flex-1 wrap-anywhere">{quiz.question}</bdi>
            <span className="shrink-0 text-sm text-quiet tabular-nums">
              {texts.rundown.seconds(quiz.duration / 1_000)}
            </span>
            {quiz === next && <Badge variant="accent">{texts.rundown.next}</Badge>}
            {quiz.state !== 'draft' && (
              <Badge>{texts.rundown.states[isOver ? 'revealed' : quiz.state]}</Badge>
            )}
          </li>
        ))}
      </ol>
      {shown.length > VISIBLE_MAX && (
        <p className="text-sm text-quiet">{texts.rundown.more(shown.length - VISIBLE_MAX)}</p>
      )}
    </>
  );
}
