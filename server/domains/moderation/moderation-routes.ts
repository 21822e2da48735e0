import type { Restriction } from '../../../protocol/moderation.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import { JsonText } from '../../auth/json-text.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { ModerationCache } from './moderation-cache.ts';
import type { moderationProcedures } from './moderation-sql.ts';
import { QUESTIONS_PER_PAGE, type QuestionText, type questionProcedures } from './questions-sql.ts';
import type { restrictionProcedures } from './restrictions-sql.ts';
import { findSentMessage, type MessageSearchDeps } from './sent-message-search.ts';

export interface ModerationRoutes
  extends MessageSearchDeps,
    Pick<StudioContext, 'largeOperations'> {
  readonly store: MessageSearchDeps['store'] &
    Calls<typeof moderationProcedures & typeof restrictionProcedures & typeof questionProcedures>;
  /** Refreshed before a change is acknowledged, so that the change holds on this node. */
  readonly moderation: Pick<ModerationCache, 'refresh'>;
}

const MINUTE_MS = 60_000;

/** The routes of chat moderation (SPEC C). */
export function moderationHandlers(
  studio: StudioHandlerFactory,
  { store, moderation, messageSearches, largeOperations }: ModerationRoutes,
) {
  const search = { store, messageSearches };

  async function restrict(call: StudioCall, kind: Restriction, name = '', minutes?: number) {
    const { idempotency, nowMs } = call;
    const until = minutes === undefined ? null : nowMs + minutes * MINUTE_MS;
    const decision = { kind, viewer: viewerOf(call), name, until, by: nameOf(call), nowMs };
    const input = { ...ownStreamInput(call), ...decision };
    const restricted = await store.restrictViewer(input, idempotency);
    await moderation.refresh();
    return restricted;
  }

  async function liftRestriction(call: StudioCall, kind: Restriction): Promise<undefined> {
    const input = { ...ownStreamInput(call), viewer: viewerOf(call), kind };
    await store.liftRestriction(input, call.idempotency);
    await moderation.refresh();
  }

  return {
    patchChatMode: studio(studioApi.patchChatMode, async (call, patch) => {
      const mode = await store.changeChatMode({ ...ownStreamInput(call), patch }, call.idempotency);
      await moderation.refresh();
      return mode;
    }),

    hideChatLines: studio(studioApi.hideChatLines, (call, { ids }) =>
      store.hideMessages({ ...ownStreamInput(call), ids }, call.idempotency),
    ),

    pinChatLine: studio(studioApi.pinChatLine, async (call, { line }) => {
      const message = line && (await findSentMessage(search, call, line));
      const input = { ...ownStreamInput(call), id: line?.id ?? null, message };
      return store.pinMessage(input, call.idempotency);
    }),

    muteViewer: studio(studioApi.muteViewer, (call, { name, minutes }) =>
      restrict(call, 'muted', name, minutes),
    ),

    unmuteViewer: studio(studioApi.unmuteViewer, (call) => liftRestriction(call, 'muted')),

    banViewer: studio(studioApi.banViewer, (call, { name }) => restrict(call, 'banned', name)),

    unbanViewer: studio(studioApi.unbanViewer, (call) => liftRestriction(call, 'banned')),

    listRestricted: studio(
      studioApi.listRestricted,
      async (call) => {
        const { nowMs } = call;
        return { results: await store.listRestricted({ ...ownStreamInput(call), nowMs }) };
      },
      { isLarge: true },
    ),

    queueQuestion: studio(studioApi.queueQuestion, async (call, { state, line }) => {
      const { nowMs, idempotency, params } = call;
      // An id in the body that differs from the id in the path matches no message.
      const id = line.id === params.line_id ? line.id : '';
      const own = ownStreamInput(call);
      const isQueued = await store.isQuestionQueued({ ...own, id });
      const message = isQueued ? null : await findSentMessage(search, call, { id, at: line.at });
      const input = { ...own, id, message, state, by: nameOf(call), nowMs };
      return store.queueQuestion(input, idempotency);
    }),

    listQuestions: studio(studioApi.listQuestions, (call, _, { state = null }) =>
      largeOperations.run(call, async (step) => {
        const questions: QuestionText[] = [];
        for (let page: readonly QuestionText[] | null = null; isWhole(page); ) {
          const search = { ...ownStreamInput(call), state, after: questions.at(-1)?.id ?? '' };
          page = await step(() => store.readQuestions(search));
          questions.push(...page);
        }
        questions.sort((a, b) => a.written - b.written || (a.id < b.id ? -1 : 1));
        const elements = questions.map(({ json }, index) => (index === 0 ? json : `,${json}`));
        return new JsonText(['{"results":[', ...elements, ']}']);
      }),
    ),
  };
}

/** Whether another page may follow. */
const isWhole = (page: readonly QuestionText[] | null) =>
  page === null || page.length === QUESTIONS_PER_PAGE;

const viewerOf = ({ params }: StudioCall) => params.viewer ?? '';

/** The name of the deciding member; null: a program. */
const nameOf = ({ actor }: StudioCall) => (actor.kind === 'member' ? actor.name : null);
