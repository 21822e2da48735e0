import { useQueryClient } from '@tanstack/react-query';
import { Copy, GripVertical, Pencil, Trash2 } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import {
  Button,
  DropIndicator,
  GridList,
  GridListItem,
  ListLayout,
  useDragAndDrop,
  Virtualizer,
} from 'react-aria-components';
import type { Rundown } from '../../protocol/rundown.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { StudioProblem } from '../api/studio-problem.ts';
import { keyOf } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { Badge } from '../ui/badge.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { tellFailure } from '../ui/toasts.tsx';
import { reordered, withOrder } from './reordered.ts';

interface QuizListProps {
  readonly streamId: string;
  readonly rundown: Rundown;
  readonly onEdit: (quiz: StudioQuiz) => void;
}

const STATES = {
  draft: null,
  open: <Badge look="live">Open</Badge>,
  closed: <Badge look="accent">Closed</Badge>,
  revealed: <Badge>Shown</Badge>,
} as const;

const STALE = ['listQuizzes'] as const;

/** The quizzes in their order. Drafts are dragged, by mouse, finger or keyboard. */
export function QuizList({ streamId, rundown, onEdit }: QuizListProps) {
  const [deleted, setDeleted] = useState<StudioQuiz | null>(null);
  const remove = useWrite('deleteQuiz', { stale: STALE, onDone: () => setDeleted(null) });
  const duplicate = useWrite('duplicateQuiz', { stale: STALE });
  const mayChange = useMay('patchQuiz');
  const dragAndDropHooks = useReordering(streamId, rundown);
  const rows = useRows(rundown.results);
  const actionsOf = (quiz: StudioQuiz) => [
    ...(quiz.state === 'draft'
      ? [{ text: 'Change', icon: <Pencil />, onAction: () => onEdit(quiz) }]
      : []),
    {
      text: 'Duplicate',
      icon: <Copy />,
      onAction: () => duplicate.write({ params: { quiz_id: quiz.id } }),
    },
    ...(quiz.state === 'draft'
      ? [{ text: 'Delete', icon: <Trash2 />, onAction: () => setDeleted(quiz), isDangerous: true }]
      : []),
  ];
  return (
    <>
      <Virtualizer layout={ListLayout} layoutOptions={{ estimatedRowHeight: 76 }}>
        <GridList
          aria-label="Quizzes"
          items={rows}
          dependencies={[mayChange]}
          {...(mayChange && { dragAndDropHooks })}
          className={`max-h-[75dvh] overflow-y-auto rounded-2xl border border-line bg-card ${FOCUS_RING}`}
        >
          {(quiz) => (
            <GridListItem
              id={quiz.id}
              textValue={quiz.question}
              className={classes(
                'flex items-start gap-2 border-b border-line p-3 -outline-offset-3! sm:gap-3',
                'dragging:opacity-50',
                FOCUS_RING,
              )}
            >
              {mayChange && quiz.state === 'draft' ? (
                <Button
                  slot="drag"
                  className={`grid size-11 shrink-0 cursor-grab place-items-center rounded-lg text-quiet hover:bg-raised ${FOCUS_RING}`}
                >
                  <GripVertical className="size-5" aria-hidden="true" />
                </Button>
              ) : (
                <span className="size-11 shrink-0" />
              )}
              <span className="min-h-11 w-7 shrink-0 content-center text-right text-quiet tabular-nums">
                {quiz.place + 1}
              </span>
              <span className="grid min-w-0 flex-1 gap-1 self-center">
                <span className="font-semibold break-words">{quiz.question}</span>
                <span className="text-sm break-words text-quiet">
                  {quiz.choices.length} choices · {quiz.duration / 1_000} s · right: {quiz.answer}
                </span>
              </span>
              <span className="self-center">{STATES[quiz.state]}</span>
              {mayChange && (
                <Menu label={`What to do with “${quiz.question}”`} actions={actionsOf(quiz)} />
              )}
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
      <Confirm
        title="Delete the quiz?"
        action="Delete"
        isOpen={deleted !== null}
        onOpenChange={() => setDeleted(null)}
        isPending={remove.isPending}
        onConfirm={() => deleted && remove.write({ params: { quiz_id: deleted.id } })}
      >
        {deleted?.question}
      </Confirm>
    </>
  );
}

interface Row extends StudioQuiz {
  readonly place: number;
}

/** So many are there at once: about what a screen has. */
const ROWS_AT_ONCE = 16;

/**
 * The quizzes with their places. What is as it was is the same object, by which the list knows that
 * it need not make it again. The first are there at once, the others when the page has time.
 */
function useRows(quizzes: readonly StudioQuiz[]): readonly Row[] {
  const [known] = useState(() => new WeakMap<StudioQuiz, Row>());
  const rows = useMemo(
    () =>
      quizzes.map((quiz, place) => {
        const before = known.get(quiz);
        if (before?.place === place) return before;
        const row = { ...quiz, place };
        known.set(quiz, row);
        return row;
      }),
    [known, quizzes],
  );
  return useDeferredValue(rows, rows.slice(0, ROWS_AT_ONCE));
}

/** Drafts can be dragged; what is shown is the new order at once, and the service's when it is known. */
function useReordering(streamId: string, { results, revision }: Rundown) {
  const queries = useQueryClient();
  const key = keyOf('listQuizzes', { params: { stream_id: streamId } });
  const { write } = useWrite('orderQuizzes', {
    onDone: (rundown) => queries.setQueryData(key, rundown),
    onFailure: (error) => {
      const isMeanwhile = error instanceof StudioProblem && error.status === 409;
      tellFailure(
        isMeanwhile
          ? new Error('Somebody else has changed the rundown meanwhile: it is shown anew.')
          : error,
      );
      void queries.invalidateQueries({ queryKey: key });
    },
  });
  const drafts = new Set(results.filter(({ state }) => state === 'draft').map(({ id }) => id));
  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: drafts.size < 2,
    getItems: (keys) =>
      [...keys].map((id) => ({
        'text/plain': results.find((quiz) => quiz.id === id)?.question ?? '',
      })),
    renderDropIndicator: (target) => (
      <DropIndicator target={target} className="drop-target:outline-2 drop-target:outline-accent" />
    ),
    shouldAcceptItemDrop: () => false,
    acceptedDragTypes: ['text/plain'],
    onReorder: ({ keys, target }) => {
      const moved = new Set([...keys].map(String).filter((id) => drafts.has(id)));
      const drop = { key: String(target.key), isAfter: target.dropPosition === 'after' };
      const order = reordered(
        results.map(({ id }) => id),
        drafts,
        moved,
        drop,
      );
      queries.setQueryData(key, { results: withOrder(results, order), revision });
      write({ params: { stream_id: streamId }, body: { order, revision } });
    },
  });
  return dragAndDropHooks;
}
