import { useMemo, useRef, useState } from 'react';
import type { QuestionState, StoredChatMessage } from '../../../protocol/moderation.ts';
import { useApiMutation } from '../../api/use-api-mutation.ts';
import { showSuccess } from '../../ui/toasts.tsx';

/** The moderation calls for a message or its author. */
export interface Moderation {
  readonly hide: (message: StoredChatMessage) => void;
  readonly pin: (message: StoredChatMessage | null) => void;
  /** @param minutes undefined: for the whole show */
  readonly mute: (message: StoredChatMessage, minutes?: number) => void;
  readonly unmute: (viewer: string) => void;
  readonly ban: (message: StoredChatMessage) => void;
  readonly unban: (viewer: string) => void;
  readonly queue: (message: StoredChatMessage, state: QuestionState) => void;
}

/** Duration of a mute that is not for the whole show. */
export const MUTE_MINUTES = 10;

/** Display name of a viewer without one. */
export const ANONYMOUS_NAME = 'A viewer';

/**
 * The moderation calls of a show. `moderation` stays the same object, so that memoized rows do not
 * render again. `hidden` has the messages that this page hid.
 */
export function useModeration(streamId: string) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(NO_IDS);
  const hide = useApiMutation('hideChatLines', {
    targetOf: ({ body }) => body?.ids.join() ?? '',
    onSuccess: ({ ids }) => setHidden((before) => new Set([...before, ...ids])),
  });
  const pin = useApiMutation('pinChatLine');
  const viewerOptions = { invalidates: ['listRestricted'], targetOf: viewerOf } as const;
  const mute = useApiMutation('muteViewer', {
    ...viewerOptions,
    onSuccess: ({ name }, { body }) =>
      showSuccess(
        `${name || ANONYMOUS_NAME} is muted for ${body?.minutes ? `${body.minutes} minutes` : 'the show'}.`,
      ),
  });
  const unmute = useApiMutation('unmuteViewer', viewerOptions);
  const ban = useApiMutation('banViewer', {
    ...viewerOptions,
    onSuccess: ({ name }) => showSuccess(`${name || ANONYMOUS_NAME} is banned.`),
  });
  const unban = useApiMutation('unbanViewer', viewerOptions);
  const queue = useApiMutation('queueQuestion', {
    invalidates: ['listQuestions'],
    targetOf: ({ params }) => params?.line_id ?? '',
  });
  const calls = useRef({ hide, pin, mute, unmute, ban, unban, queue });
  calls.current = { hide, pin, mute, unmute, ban, unban, queue };
  const moderation = useMemo((): Moderation => {
    const params = { stream_id: streamId };
    const nameBody = ({ name }: StoredChatMessage) => (name ? { name } : {});
    return {
      hide: ({ id }) => calls.current.hide.mutate({ params, body: { ids: [id] } }),
      pin: (message) =>
        calls.current.pin.mutate({ params, body: { line: message && storedMessageOf(message) } }),
      mute: (message, minutes) =>
        calls.current.mute.mutate({
          params: { ...params, viewer: message.viewer },
          body: { ...nameBody(message), ...(minutes !== undefined && { minutes }) },
        }),
      unmute: (viewer) => calls.current.unmute.mutate({ params: { ...params, viewer } }),
      ban: (message) =>
        calls.current.ban.mutate({
          params: { ...params, viewer: message.viewer },
          body: nameBody(message),
        }),
      unban: (viewer) => calls.current.unban.mutate({ params: { ...params, viewer } }),
      queue: (message, state) =>
        calls.current.queue.mutate({
          params: { ...params, line_id: message.id },
          body: { state, line: storedMessageOf(message) },
        }),
    };
  }, [streamId]);
  return { moderation, hidden };
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
