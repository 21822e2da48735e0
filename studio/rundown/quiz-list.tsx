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
import { StudioApiError } from '../api/studio-api-error.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { queryKeyOf } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { Badge } from '../ui/badge.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { showError } from '../ui/toasts.tsx';
import { applyOrder, reorderDrafts } from './reorder.ts';
import { texts } from './texts.ts';

interface QuizListProps {
  readonly streamId: string;
  readonly rundown: Rundown;
  readonly onEdit: (quiz: StudioQuiz) => void;
}

const STATES = {
  draft: null,
  open: <Badge variant="live">{texts.list.states.open}</Badge>,
  closed: <Badge variant="accent">{texts.list.states.closed}</Badge>,
  revealed: <Badge>{texts.list.states.revealed}</Badge>,
} as const;

const INVALIDATED = ['listQuizzes'] as const;

/** The quizzes in order. Drafts can be reordered by mouse, touch or keyboard. */
export function QuizList({ streamId, rundown, onEdit }: QuizListProps) {
  const [toDelete, setToDelete] = useState<StudioQuiz | null>(null);
  const remove = useApiMutation('deleteQuiz', {
    invalidates: INVALIDATED,
    onSuccess: () => setToDelete((current) => (current === toDelete ? null : current)),
  });
  const duplicate = useApiMutation('duplicateQuiz', { invalidates: INVALIDATED });
  const mayChange = usePermission('patchQuiz');
  const dragAndDropHooks = useReordering(streamId, rundown);
  const rows = useRows(rundown.results);
  const actionsOf = (quiz: StudioQuiz) => [
    ...(quiz.state === 'draft'
      ? [{ text: texts.list.edit, icon: <Pencil />, onAction: () => onEdit(quiz) }]
      : []),
    {
      text: texts.list.duplicate,
      icon: <Copy />,
      onAction: () => duplicate.mutate({ params: { quiz_id: quiz.id } }),
    },
    ...(quiz.state === 'draft'
      ? [
          {
            text: texts.list.delete,
            icon: <Trash2 />,
            onAction: () => setToDelete(quiz),
            isDangerous: true,
          },
        ]
      : []),
  ];
  return (
    <>
      <Virtualizer layout={ListLayout} layoutOptions={{ estimatedRowHeight: 76 }}>
        <GridList
          aria-label={texts.list.label}
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
                  <GripVertical className="size-5" />
                </Button>
              ) : (
                <span className="size-11 shrink-0" />
              )}
              <span className="min-h-11 w-7 shrink-0 content-center text-right text-quiet tabular-nums">
                {quiz.index + 1}
              </span>
              <span className="grid min-w-0 flex-1 gap-1 self-center">
                <span dir="auto" className="line-clamp-3 font-semibold wrap-anywhere">
                  {quiz.question}
                </span>
                <span className="line-clamp-2 text-sm wrap-anywhere text-quiet">
                  <TextTemplate
                    text={texts.list.summary(quiz.choices.length, quiz.duration / 1_000)}
                  >
                    <bdi>{quiz.answer}</bdi>
                  </TextTemplate>
                </span>
              </span>
              <span className="self-center">{STATES[quiz.state]}</span>
              {mayChange && (
                <Menu label={texts.list.actions(quiz.question)} actions={actionsOf(quiz)} />
              )}
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
      <Confirm
        title={texts.list.deleteTitle}
        action={texts.list.delete}
        isOpen={toDelete !== null}
        onOpenChange={() => setToDelete(null)}
        isPending={remove.isPending}
        onConfirm={() => toDelete && remove.mutate({ params: { quiz_id: toDelete.id } })}
      >
        <p dir="auto">{toDelete?.question}</p>
      </Confirm>
    </>
  );
}

interface Row extends StudioQuiz {
  readonly index: number;
}

/** Rows in the first render, about one screen. */
const INITIAL_ROWS = 16;

/**
 * The quizzes with their positions. Unchanged rows keep their identity, so that the list does not
 * render them again. After the first rows, the rest render when the page is idle.
 */
function useRows(quizzes: readonly StudioQuiz[]): readonly Row[] {
  const [rowCache] = useState(() => new WeakMap<StudioQuiz, Row>());
  const rows = useMemo(
    () =>
      quizzes.map((quiz, index) => {
        const before = rowCache.get(quiz);
        if (before?.index === index) return before;
        const row = { ...quiz, index };
        rowCache.set(quiz, row);
        return row;
      }),
    [rowCache, quizzes],
  );
  return useDeferredValue(rows, rows.slice(0, INITIAL_ROWS));
}

/** Drag and drop of drafts. The new order shows at once, until the service responds with its own. */
function useReordering(streamId: string, { results, revision }: Rundown) {
  const queries = useQueryClient();
  const key = queryKeyOf('listQuizzes', { params: { stream_id: streamId } });
  const { mutate } = useApiMutation('orderQuizzes', {
    onSuccess: (rundown) => queries.setQueryData(key, rundown),
    onError: (error) => {
      const isConflict = error instanceof StudioApiError && error.status === 409;
      showError(isConflict ? new Error(texts.list.conflict) : error);
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
      const order = reorderDrafts(
        results.map(({ id }) => id),
        drafts,
        moved,
        drop,
      );
      queries.setQueryData(key, { results: applyOrder(results, order), revision });
      mutate({ params: { stream_id: streamId }, body: { order, revision } });
    },
  });
  return dragAndDropHooks;
}
