import type { RestrictedViewer, Restriction } from '../../../protocol/moderation.ts';
import type { moderationApi } from '../../../protocol/moderation-api.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { ofStream, type StudioCall, type StudioWrapper } from '../../auth/studio-operation.ts';
import type { Handlers } from '../../http/route.ts';
import type { ChatRooms } from './chat-rooms.ts';

export interface ModerationRoutes {
  readonly store: Pick<
    Store,
    | 'changeChatMode'
    | 'hideLines'
    | 'pinLine'
    | 'restrictViewer'
    | 'liftRestriction'
    | 'listRestricted'
    | 'queueQuestion'
    | 'listQuestions'
  >;
  /** What this node knows of them, which is to be right before a change is acknowledged. */
  readonly rooms: Pick<ChatRooms, 'look'>;
}

const MINUTE_MS = 60_000;

/** How the chat of a show is kept in order (SPEC C). */
export function moderationHandlers(
  studio: StudioWrapper,
  { store, rooms }: ModerationRoutes,
): Handlers<typeof moderationApi> {
  async function restrict(
    call: StudioCall,
    kind: Restriction,
    name = '',
    minutes?: number,
  ): Promise<RestrictedViewer> {
    const { once, nowMs } = call;
    const until = minutes === undefined ? null : nowMs + minutes * MINUTE_MS;
    const decided = { kind, viewer: viewerOf(call), name, until, by: nameOf(call), nowMs };
    const restricted = await store.restrictViewer({ ...ofStream(call), ...decided }, once);
    await rooms.look();
    return restricted;
  }

  async function lift(call: StudioCall, kind: Restriction): Promise<undefined> {
    const input = { ...ofStream(call), viewer: viewerOf(call), kind };
    await store.liftRestriction(input, call.once);
    await rooms.look();
  }

  return {
    patchChatMode: studio(studioApi.patchChatMode, async (call, patch) => {
      const mode = await store.changeChatMode({ ...ofStream(call), patch }, call.once);
      await rooms.look();
      return mode;
    }),

    hideChatLines: studio(studioApi.hideChatLines, (call, { ids }) =>
      store.hideLines({ ...ofStream(call), ids }, call.once),
    ),

    pinChatLine: studio(studioApi.pinChatLine, (call, { line }) =>
      store.pinLine({ ...ofStream(call), line }, call.once),
    ),

    muteViewer: studio(studioApi.muteViewer, (call, { name, minutes }) =>
      restrict(call, 'muted', name, minutes),
    ),

    unmuteViewer: studio(studioApi.unmuteViewer, (call) => lift(call, 'muted')),

    banViewer: studio(studioApi.banViewer, (call, { name }) => restrict(call, 'banned', name)),

    unbanViewer: studio(studioApi.unbanViewer, (call) => lift(call, 'banned')),

    listRestricted: studio(studioApi.listRestricted, async (call) => {
      const { nowMs } = call;
      return { results: await store.listRestricted({ ...ofStream(call), nowMs }) };
    }),

    queueQuestion: studio(studioApi.queueQuestion, (call, { state, line: { id, at } }) => {
      const { nowMs, once, params } = call;
      // One of another id than the path has names nothing.
      const line = { id: id === params.line_id ? id : '', at };
      const by = nameOf(call);
      return store.queueQuestion({ ...ofStream(call), line, state, by, nowMs }, once);
    }),

    listQuestions: studio(studioApi.listQuestions, async (call, _, { state = null }) => ({
      results: await store.listQuestions({ ...ofStream(call), state }),
    })),
  };
}

const viewerOf = ({ params }: StudioCall) => params.viewer ?? '';

/** Who decides, as the others read it; null: a program. */
const nameOf = ({ actor }: StudioCall) => (actor.kind === 'member' ? actor.name : null);
