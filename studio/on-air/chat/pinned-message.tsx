import { Pin, PinOff } from 'lucide-react';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { VIEWER_WORDS } from '../../ui/classes.ts';
import { texts } from './texts.ts';

interface PinnedMessageProps {
  readonly message: StoredChatMessage;
  readonly onUnpin: () => void;
}

/** The message that viewers see above the chat. */
export function PinnedMessage({ message, onUnpin }: PinnedMessageProps) {
  return (
    <div className="flex items-center gap-2 rounded-lg bg-accent-soft p-1 pl-3">
      <Pin className="size-4 shrink-0 text-accent" />
      <p className={`min-w-0 flex-1 py-1 ${VIEWER_WORDS}`}>
        <span className="sr-only">{texts.pinned.label} </span>
        <bdi className="font-semibold">{message.name || texts.anonymous}</bdi>{' '}
        <bdi>{message.text}</bdi>
      </p>
      <Button variant="quiet" aria-label={texts.pinned.unpin} onPress={onUnpin} icon={<PinOff />} />
    </div>
  );
}
