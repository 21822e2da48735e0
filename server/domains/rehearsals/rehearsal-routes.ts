import { createHash } from 'node:crypto';
import { REHEARSAL_LENGTH_MS, REHEARSAL_RETENTION_MS } from '../../../protocol/limits.ts';
import type { Rehearsal } from '../../../protocol/rehearsal.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { LargeOperations } from '../../auth/large-operations.ts';
import type { StudioCall, StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { QUIZ_BYTES_MIN } from '../../auth/write-bytes.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Step } from '../../platform/pace.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { Draft, rundownProcedures } from '../rundown/rundown-sql.ts';
import type { RehearsalRunner } from './rehearsal-runner.ts';
import { isRunning, type RehearsalRow, type rehearsalProcedures } from './rehearsals-sql.ts';

/** Drafts that one transaction copies: 2,000 would hold up the writes of others for 0.4 s. */
const DRAFTS_PER_COPY = 100;

export interface RehearsalRoutes {
  readonly store: Pick<Calls<typeof rundownProcedures>, 'listDrafts'> &
    Pick<
      Calls<typeof rehearsalProcedures>,
      'createRehearsal' | 'copyDrafts' | 'reportRehearsal' | 'findRehearsal' | 'dismissRehearsal'
    >;
  readonly largeOperations: LargeOperations;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Runs the simulated viewers of rehearsals on this node. */
  readonly runner: Pick<RehearsalRunner, 'node' | 'unavailableReason' | 'run' | 'dismiss'>;
}

/** Operations of the studio API on rehearsals (SPEC Y). */
export function rehearsalHandlers(
  studio: StudioHandlerFactory,
  { store, largeOperations, clock, newId, runner }: RehearsalRoutes,
) {
  /** Whether this is still the show's rehearsal and it is running. */
  async function isCurrent(call: StudioCall, { streamId }: RehearsalRow): Promise<boolean> {
    try {
      const current = await store.findRehearsal(showRefOf(call));
      return current.streamId === streamId && isRunning(current, clock.nowMs());
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  /** Reports the rehearsal meanwhile: behind the steps of other accounts 2,000 drafts may take 8 s, and it would be lost. */
  async function copyDrafts(
    { streamId: id }: RehearsalRow,
    producer: string,
    drafts: readonly Draft[],
    step: Step,
  ): Promise<void> {
    for (let start = 0; start < drafts.length; start += DRAFTS_PER_COPY) {
      const some = drafts.slice(start, start + DRAFTS_PER_COPY);
      const copies = some.map((draft) => ({ id: draft.id, copyId: copyIdOf(id, draft.id) }));
      await step(async () => {
        await store.copyDrafts({ id, producer, drafts: copies });
        const report = { figures: null, isLast: false, nowMs: clock.nowMs() };
        await store.reportRehearsal({ id, node: runner.node, ...report });
      });
    }
  }

  return {
    createRehearsal: studio(studioApi.createRehearsal, (call, settings) =>
      largeOperations.run(call, async (step) => {
        const { showId, producer } = showRefOf(call);
        const drafts = await step(() => store.listDrafts({ streamId: showId, producer }));
        const unavailableReason = runner.unavailableReason();
        if (unavailableReason !== null) throw new DomainError('conflict', unavailableReason);
        call.takeBytes(bytesOf(drafts));
        const id = newId();
        // The wait may be longer than a rehearsal may go without a report: read the clock after it.
        const nowMs = clock.nowMs();
        const input = { id, showId, producer, node: runner.node, settings, nowMs };
        const row = await step(() => store.createRehearsal(input, call.idempotency));
        // An idempotent repeat may return a rehearsal that is over: do not start its viewers again.
        if (row.streamId === id || (await isCurrent(call, row))) {
          // A repeat completes a copy that broke off.
          await copyDrafts(row, producer, drafts, step);
          runner.run(row);
        }
        return rehearsalOf(row, row.created);
      }),
    ),

    readRehearsal: studio(studioApi.readRehearsal, async (call) =>
      rehearsalOf(await store.findRehearsal(showRefOf(call)), call.nowMs),
    ),

    deleteRehearsal: studio(studioApi.deleteRehearsal, async (call) => {
      runner.dismiss(await store.dismissRehearsal(showRefOf(call), call.idempotency));
      return null;
    }),
  };
}

/** The id of the copy of a draft, always the same: a copy that is repeated adds nothing twice. */
function copyIdOf(rehearsalId: string, draftId: string): string {
  const hex = createHash('sha256').update(`${rehearsalId} ${draftId}`).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
}

/** What the copies of drafts count. */
const bytesOf = (drafts: readonly Draft[]) =>
  drafts.reduce((sum, { bytes }) => sum + Math.max(bytes, QUIZ_BYTES_MIN), 0);

const showRefOf = ({ params, producer, nowMs }: StudioCall) => ({
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
    removedAt: created + REHEARSAL_RETENTION_MS,
  };
}
