import type { Rehearsal } from '../../../protocol/rehearsal.ts';
import { REHEARSAL_KEPT_MS, REHEARSAL_LENGTH_MS } from '../../../protocol/rehearsal.ts';
import type { rehearsalApi } from '../../../protocol/rehearsal-api.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { StudioCall, StudioWrapper } from '../../auth/studio-operation.ts';
import { Problem } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import { Refusal } from '../../platform/errors.ts';
import { studioQuizOf } from '../streams/studio-wire.ts';
import type { Rehearsals } from './rehearsals.ts';
import { isRunning, type RehearsalRow } from './rehearsals-sql.ts';

export interface RehearsalRoutes {
  readonly store: Pick<
    Store,
    'listQuizzes' | 'createRehearsal' | 'findRehearsal' | 'dismissRehearsal'
  >;
  readonly newId: () => string;
  /** Those whose viewers this node sends. */
  readonly rehearsals: Pick<Rehearsals, 'node' | 'unable' | 'send' | 'dismissed'>;
}

/** Rehearsals of a show (SPEC Y). */
export function rehearsalHandlers(
  studio: StudioWrapper,
  { store, newId, rehearsals }: RehearsalRoutes,
): Handlers<typeof rehearsalApi> {
  /** Whether the show has this rehearsal, as far as is known. */
  async function goesOn(call: StudioCall, { streamId }: RehearsalRow): Promise<boolean> {
    try {
      const current = await store.findRehearsal(ofShow(call));
      return current.streamId === streamId && isRunning(current, call.nowMs);
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  return {
    createRehearsal: studio(studioApi.createRehearsal, async (call, settings) => {
      const { showId, producer, nowMs } = ofShow(call);
      const { quizzes } = await store.listQuizzes({ streamId: showId, producer });
      const unable = rehearsals.unable();
      if (unable !== null) throw new Problem(409, unable);
      const drafts = quizzes
        .filter(({ state }) => state === 'draft')
        .map(studioQuizOf)
        .map(({ question, choices, answer, duration, reveal }) => {
          return { id: newId(), quiz: { question, choices, answer, duration, reveal } };
        });
      const id = newId();
      const { node } = rehearsals;
      const row = await store.createRehearsal(
        { id, showId, producer, node, settings, drafts, nowMs },
        call.once,
      );
      // What an earlier request made may be over: its viewers do not come back for a repeat.
      if (row.streamId === id || (await goesOn(call, row))) rehearsals.send(row);
      return rehearsalOf(row, row.created);
    }),

    readRehearsal: studio(studioApi.readRehearsal, async (call) =>
      rehearsalOf(await store.findRehearsal(ofShow(call)), call.nowMs),
    ),

    deleteRehearsal: studio(studioApi.deleteRehearsal, async (call) => {
      rehearsals.dismissed(await store.dismissRehearsal(ofShow(call), call.once));
      return null;
    }),
  };
}

const ofShow = ({ params, producer, nowMs }: StudioCall) => ({
  showId: params.stream_id ?? '',
  producer,
  nowMs,
});

function rehearsalOf(row: RehearsalRow, nowMs: number): Rehearsal {
  const { streamId, showId, settings, figures, created, seen, ended } = row;
  const state = ended !== null ? 'over' : isRunning(row, nowMs) ? 'running' : 'lost';
  return {
    streamId,
    rehearsalOf: showId,
    state,
    settings,
    crowd: figures,
    created,
    endsAt: created + REHEARSAL_LENGTH_MS,
    ended: state === 'lost' ? seen : ended,
    removedAt: created + REHEARSAL_KEPT_MS,
  };
}
