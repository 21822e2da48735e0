import { Pin, PinOff } from 'lucide-react';
import type { KeptLine } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { NAMELESS } from './use-moderation.ts';

interface PinnedLineProps {
  readonly line: KeptLine;
  readonly onUnpin: () => void;
}

/** The line that viewers see above the chat. */
export function PinnedLine({ line, onUnpin }: PinnedLineProps) {
  return (
    <div className="flex items-center gap-2 rounded-lg bg-accent-soft p-1 pl-3">
      <Pin className="size-4 shrink-0 text-accent" aria-hidden="true" />
      <p className="min-w-0 flex-1 py-1 wrap-anywhere">
        <span className="sr-only">Pinned: </span>
        <span className="font-semibold">{line.name || NAMELESS}</span> {line.text}
      </p>
      <Button look="quiet" size="icon" aria-label="Take the pinned line down" onPress={onUnpin}>
        <PinOff aria-hidden="true" />
      </Button>
    </div>
  );
}
