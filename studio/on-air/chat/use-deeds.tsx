import { type ReactNode, useCallback, useState } from 'react';
import type { KeptLine } from '../../../protocol/moderation.ts';
import { Confirm } from '../../ui/dialog.tsx';
import type { LineDeed } from './chat-line.tsx';
import { type Moderation, MUTE_MINUTES, NAMELESS } from './use-moderation.ts';

/**
 * What is done with lines of the chat. To ban somebody is asked for: it cannot be told from the line
 * that somebody is gone. `dialog` has to be in the page.
 */
export function useDeeds(
  moderation: Moderation,
  pinnedId: string | null,
): { readonly onDeed: (line: KeptLine, deed: LineDeed) => void; readonly dialog: ReactNode } {
  const [banned, setBanned] = useState<KeptLine | null>(null);
  const onDeed = useCallback(
    (line: KeptLine, deed: LineDeed) => {
      const { hide, pin, mute, unmute, unban, queue } = moderation;
      if (line.viewer === '' && ['mute', 'mute-for-show', 'ban'].includes(deed)) return;
      const deeds: Record<LineDeed, () => void> = {
        hide: () => hide(line),
        pin: () => pin(line.id === pinnedId ? null : line),
        mute: () => mute(line, MUTE_MINUTES),
        'mute-for-show': () => mute(line),
        unmute: () => unmute(line.viewer),
        ban: () => setBanned(line),
        unban: () => unban(line.viewer),
        queue: () => queue(line, 'open'),
        answered: () => queue(line, 'answered'),
        dismissed: () => queue(line, 'dismissed'),
      };
      deeds[deed]();
    },
    [moderation, pinnedId],
  );
  const dialog = (
    <Confirm
      title={`Ban ${banned?.name || NAMELESS.toLowerCase()}?`}
      action="Ban"
      isOpen={banned !== null}
      onOpenChange={() => setBanned(null)}
      onConfirm={() => {
        if (banned) moderation.ban(banned);
        setBanned(null);
      }}
    >
      They are out of the show within a second, and are counted no longer. “Muted and banned” lets
      them back in.
    </Confirm>
  );
  return { onDeed, dialog };
}
