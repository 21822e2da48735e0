import { type ReactNode, useCallback, useState } from 'react';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { MessageAction } from './chat-message-row.tsx';
import { ANONYMOUS_NAME, type Moderation, MUTE_MINUTES } from './use-moderation.ts';

/** The actions on chat messages. A ban asks for confirmation first: render `dialog` in the page. */
export function useMessageActions(
  moderation: Moderation,
  pinnedId: string | null,
): {
  readonly onAction: (message: StoredChatMessage, action: MessageAction) => void;
  readonly dialog: ReactNode;
} {
  const [banTarget, setBanTarget] = useState<StoredChatMessage | null>(null);
  const [hidesMessages, setHidesMessages] = useState(true);
  const onAction = useCallback(
    (message: StoredChatMessage, action: MessageAction) => {
      const { hide, undoHide, pin, mute, unmute, unban, queue } = moderation;
      if (message.viewer === '' && ['mute', 'mute-for-show', 'ban'].includes(action)) return;
      const handlers: Record<MessageAction, () => void> = {
        hide: () => hide(message),
        'undo-hide': () => undoHide(message),
        pin: () => pin(message.id === pinnedId ? null : message),
        mute: () => mute(message, MUTE_MINUTES),
        'mute-for-show': () => mute(message),
        unmute: () => unmute(message.viewer),
        ban: () => {
          setHidesMessages(true);
          setBanTarget(message);
        },
        unban: () => unban(message.viewer),
        queue: () => queue(message, 'open'),
        answered: () => queue(message, 'answered'),
        dismissed: () => queue(message, 'dismissed'),
      };
      handlers[action]();
    },
    [moderation, pinnedId],
  );
  const dialog = (
    <Confirm
      title={
        <>
          Ban <bdi>{banTarget?.name || ANONYMOUS_NAME.toLowerCase()}</bdi>?
        </>
      }
      action="Ban"
      isOpen={banTarget !== null}
      onOpenChange={() => setBanTarget(null)}
      onConfirm={() => {
        if (banTarget) moderation.ban(banTarget, hidesMessages);
        setBanTarget(null);
      }}
    >
      <div className="grid gap-4">
        <p>
          They leave the show within a second and no longer count as a viewer. You can lift the ban
          in the chat settings.
        </p>
        <Switch
          label="Hide their messages"
          help="For all viewers. This cannot be undone."
          isSelected={hidesMessages}
          onChange={setHidesMessages}
        />
      </div>
    </Confirm>
  );
  return { onAction, dialog };
}
