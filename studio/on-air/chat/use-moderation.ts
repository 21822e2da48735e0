import { useMemo, useRef, useState } from 'react';
import { PAGE_SIZE_MAX } from '../../../protocol/limits.ts';
import type { QuestionState, StoredChatMessage } from '../../../protocol/moderation.ts';
import { useStudio } from '../../api/studio-context.ts';
import { useApiMutation } from '../../api/use-api-mutation.ts';
import { showError, showSuccess } from '../../ui/toasts.tsx';
import type { ShowLog } from '../show-log.ts';
import { texts } from './texts.ts';
import { useDelayedHides } from './use-delayed-hides.ts';
import { idsOfViewer } from './viewer-messages.ts';

/** The moderation calls for a message or its author. */
export interface Moderation {
  /** Hides a message unless it is undone within 5 s. */
  readonly hide: (message: StoredChatMessage) => void;
  readonly undoHide: (message: StoredChatMessage) => void;
  readonly pin: (message: StoredChatMessage | null) => void;
  /** @param minutes undefined: for the whole show */
  readonly mute: (message: StoredChatMessage, minutes?: number) => void;
  readonly unmute: (viewer: string) => void;
  /** @param hidesMessages also hides what the viewer wrote, at once */
  readonly ban: (message: StoredChatMessage, hidesMessages: boolean) => void;
  readonly unban: (viewer: string) => void;
  readonly queue: (message: StoredChatMessage, state: QuestionState) => void;
}

/** Duration of a mute that is not for the whole show. */
export const MUTE_MINUTES = 10;

/**
 * The moderation calls of a show. `moderation` stays the same object, so that memoized rows do not
 * render again. `hidden` has the messages that this page hid, `hiding` those that it will hide.
 * @param log what this page received; a ban hides the messages of the viewer in it
 */
export function useModeration(streamId: string, log: ShowLog) {
  const studio = useStudio();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(NO_IDS);
  const hide = useApiMutation('hideChatLines', {
    targetOf: ({ body }) => body?.ids.join() ?? '',
    onSuccess: ({ ids }) => setHidden((before) => new Set([...before, ...ids])),
  });
  const latestLog = useRef(log);
  latestLog.current = log;
  const { hides, hiding } = useDelayedHides({
    send: (id) => hide.mutate({ params: { stream_id: streamId }, body: { ids: [id] } }),
    sendAtClose: (ids) => {
      const input = { params: { stream_id: streamId }, body: { ids: [...ids] }, keepalive: true };
      studio.call('hideChatLines', input).catch(showError);
    },
  });
  const hideAllOf = async (viewer: string) => {
    const params = { stream_id: streamId };
    const { messages, messagesFrom } = latestLog.current;
    const query = { limit: PAGE_SIZE_MAX, ...(messagesFrom !== null && { before: messagesFrom }) };
    // The newest messages from before the page was opened; viewers still see them, too.
    const earlier = await studio.call('readChatLog', { params, query });
    for (const ids of idsOfViewer(viewer, [...messages, ...earlier.results])) {
      hide.mutate({ params, body: { ids } });
    }
  };
  /** Banned viewers whose messages are to be hidden. */
  const toHide = useRef(new Set<string>());
  const pin = useApiMutation('pinChatLine');
  const viewerOptions = { invalidates: ['listRestricted'], targetOf: viewerOf } as const;
  const mute = useApiMutation('muteViewer', {
    ...viewerOptions,
    onSuccess: ({ name }, { body }) =>
      showSuccess(
        body?.minutes ? texts.done.muted(body.minutes) : texts.done.mutedForShow,
        name || texts.anonymous,
      ),
  });
  const unmute = useApiMutation('unmuteViewer', viewerOptions);
  const ban = useApiMutation('banViewer', {
    ...viewerOptions,
    onSuccess: ({ viewer, name }) => {
      showSuccess(texts.done.banned, name || texts.anonymous);
      if (toHide.current.delete(viewer)) hideAllOf(viewer).catch(showError);
    },
  });
  const unban = useApiMutation('unbanViewer', viewerOptions);
  const queue = useApiMutation('queueQuestion', {
    invalidates: ['listQuestions'],
    targetOf: ({ params }) => params?.line_id ?? '',
  });
  const calls = useRef({ pin, mute, unmute, ban, unban, queue });
  calls.current = { pin, mute, unmute, ban, unban, queue };
  const moderation = useMemo((): Moderation => {
    const params = { stream_id: streamId };
    const nameBody = ({ name }: StoredChatMessage) => (name ? { name } : {});
    return {
      hide: ({ id }) => hides.hide(id),
      undoHide: ({ id }) => hides.undo(id),
      pin: (message) =>
        calls.current.pin.mutate({ params, body: { line: message && storedMessageOf(message) } }),
      mute: (message, minutes) =>
        calls.current.mute.mutate({
          params: { ...params, viewer: message.viewer },
          body: { ...nameBody(message), ...(minutes !== undefined && { minutes }) },
        }),
      unmute: (viewer) => calls.current.unmute.mutate({ params: { ...params, viewer } }),
      ban: (message, hidesMessages) => {
        if (hidesMessages) toHide.current.add(message.viewer);
        else toHide.current.delete(message.viewer);
        calls.current.ban.mutate({
          params: { ...params, viewer: message.viewer },
          body: nameBody(message),
        });
      },
      unban: (viewer) => calls.current.unban.mutate({ params: { ...params, viewer } }),
      queue: (message, state) =>
        calls.current.queue.mutate({
          params: { ...params, line_id: message.id },
          body: { state, line: storedMessageOf(message) },
        }),
    };
  }, [streamId, hides]);
  return { moderation, hidden, hiding };
}

/** Drops additional fields, which the API rejects. */
function storedMessageOf(message: StoredChatMessage): StoredChatMessage {
  const { id, viewer, name, text, kind, at } = message;
  return { id, viewer, name, text, kind, at };
}

const NO_IDS: ReadonlySet<string> = new Set();

function viewerOf({ params }: { readonly params?: Readonly<Record<string, string>> }): string {
  return params?.viewer ?? '';
}
