import { type ReactNode, useCallback, useState } from 'react';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextTemplate } from '../../ui/text-template.tsx';
import type { MessageAction } from './chat-message-row.tsx';
import { texts } from './texts.ts';
import { type Moderation, MUTE_MINUTES } from './use-moderation.ts';

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
        banTarget?.name ? (
          <TextTemplate text={texts.ban.title}>
            <bdi>{banTarget.name}</bdi>
          </TextTemplate>
        ) : (
          texts.ban.titleAnonymous
        )
      }
      action={texts.ban.action}
      isOpen={banTarget !== null}
      onOpenChange={() => setBanTarget(null)}
      onConfirm={() => {
        if (banTarget) moderation.ban(banTarget, hidesMessages);
        setBanTarget(null);
      }}
    >
      <div className="grid gap-4">
        <p>{texts.ban.help}</p>
        <Switch
          label={texts.ban.hideMessages}
          help={texts.ban.hideMessagesHelp}
          isSelected={hidesMessages}
          onChange={setHidesMessages}
        />
      </div>
    </Confirm>
  );
  return { onAction, dialog };
}
