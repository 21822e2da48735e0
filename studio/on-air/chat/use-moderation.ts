import { useMemo, useRef, useState } from 'react';
import type { KeptLine, QuestionState } from '../../../protocol/moderation.ts';
import { useWrite } from '../../api/use-write.ts';
import { tellDone } from '../../ui/toasts.tsx';

/** What can be done with a line of the chat, or with who wrote it. */
export interface Moderation {
  readonly hide: (line: KeptLine) => void;
  readonly pin: (line: KeptLine | null) => void;
  /** @param minutes undefined: for the whole show */
  readonly mute: (line: KeptLine, minutes?: number) => void;
  readonly unmute: (viewer: string) => void;
  readonly ban: (line: KeptLine) => void;
  readonly unban: (viewer: string) => void;
  readonly queue: (line: KeptLine, state: QuestionState) => void;
}

const RESTRICTED = { stale: ['listRestricted'] } as const;

/** How long a press of a key mutes somebody. */
export const MUTE_MINUTES = 10;

/** What somebody is called who gave no name. */
export const NAMELESS = 'A viewer';

/**
 * What can be done in the chat of a show. It is the same object for as long as it is about the same
 * show, so that lines need not be made again; lines that this page hid are known at once.
 */
export function useModeration(streamId: string) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(NONE);
  const hide = useWrite('hideChatLines', {
    placeOf: ({ body }) => body?.ids.join() ?? '',
    onDone: ({ ids }) => setHidden((before) => new Set([...before, ...ids])),
  });
  const pin = useWrite('pinChatLine');
  const ofViewer = { ...RESTRICTED, placeOf: viewerIn };
  const mute = useWrite('muteViewer', {
    ...ofViewer,
    onDone: ({ name }, { body }) =>
      tellDone(
        `${name || NAMELESS} is muted for ${body?.minutes ? `${body.minutes} minutes` : 'the show'}.`,
      ),
  });
  const unmute = useWrite('unmuteViewer', ofViewer);
  const ban = useWrite('banViewer', {
    ...ofViewer,
    onDone: ({ name }) => tellDone(`${name || NAMELESS} is out of the show.`),
  });
  const unban = useWrite('unbanViewer', ofViewer);
  const queue = useWrite('queueQuestion', {
    stale: ['listQuestions'],
    placeOf: ({ params }) => params?.line_id ?? '',
  });
  const writes = useRef({ hide, pin, mute, unmute, ban, unban, queue });
  writes.current = { hide, pin, mute, unmute, ban, unban, queue };
  const moderation = useMemo((): Moderation => {
    const params = { stream_id: streamId };
    const named = ({ name }: KeptLine) => (name ? { name } : {});
    return {
      hide: ({ id }) => writes.current.hide.write({ params, body: { ids: [id] } }),
      pin: (line) => writes.current.pin.write({ params, body: { line: line && keptOf(line) } }),
      mute: (line, minutes) =>
        writes.current.mute.write({
          params: { ...params, viewer: line.viewer },
          body: { ...named(line), ...(minutes !== undefined && { minutes }) },
        }),
      unmute: (viewer) => writes.current.unmute.write({ params: { ...params, viewer } }),
      ban: (line) =>
        writes.current.ban.write({ params: { ...params, viewer: line.viewer }, body: named(line) }),
      unban: (viewer) => writes.current.unban.write({ params: { ...params, viewer } }),
      queue: (line, state) =>
        writes.current.queue.write({
          params: { ...params, line_id: line.id },
          body: { state, line: keptOf(line) },
        }),
    };
  }, [streamId]);
  return { moderation, hidden };
}

/** A line may have more to it where it comes from. */
function keptOf({ id, viewer, name, text, kind, at }: KeptLine): KeptLine {
  return { id, viewer, name, text, kind, at };
}

const NONE: ReadonlySet<string> = new Set();

function viewerIn({ params }: { readonly params?: Readonly<Record<string, string>> }): string {
  return params?.viewer ?? '';
}
