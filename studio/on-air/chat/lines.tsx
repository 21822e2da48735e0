import { type KeyboardEvent, type ReactNode, type Ref, useCallback } from 'react';
import type { KeptLine } from '../../../protocol/moderation.ts';
import { Feed } from '../../ui/feed.tsx';
import { type LineKey, lineKeyOf } from '../shortcuts.ts';
import { ChatLine, type LineDeed, type LineFacts, wordsOfFacts } from './chat-line.tsx';
import { NAMELESS } from './use-moderation.ts';

/** A line as a list has it. */
export interface ListedLine extends KeptLine {
  /** It was hidden when it was read. */
  readonly hidden?: boolean;
}

/** What is done with lines, and what became of them. */
export interface LineHands {
  readonly onDeed: (line: KeptLine, deed: LineDeed) => void;
  readonly factsOf: (line: ListedLine) => LineFacts;
}

interface LinesProps {
  readonly label: string;
  readonly lines: readonly ListedLine[];
  readonly hands: LineHands;
  readonly isMore?: boolean;
  readonly onNearEnd?: () => void;
  readonly end?: ReactNode;
  readonly placeRef?: Ref<HTMLDivElement>;
}

/** Lines of the chat, one below the other, each with what can be done about it. */
export function Lines({ lines, hands, ...rest }: LinesProps) {
  const { onDeed, factsOf } = hands;
  const onItemKey = useCallback(
    (line: ListedLine, event: KeyboardEvent) => {
      const deed = event.ctrlKey || event.metaKey || event.altKey ? null : lineKeyOf(event.key);
      if (deed === null || event.repeat) return;
      if (isDone(deed, factsOf(line))) return;
      onDeed(line, deed);
    },
    [onDeed, factsOf],
  );
  const wordsOf = useCallback(
    (line: ListedLine) => {
      const { name, text } = line;
      return [`${name || NAMELESS}: ${text}`, ...wordsOfFacts(factsOf(line))].join(', ');
    },
    [factsOf],
  );
  return (
    <Feed {...rest} items={lines} keyOf={idOf} wordsOf={wordsOf} onItemKey={onItemKey}>
      {(line, isCurrent) => (
        <ChatLine line={line} {...factsOf(line)} isSkippedByTab={!isCurrent} onDeed={onDeed} />
      )}
    </Feed>
  );
}

function idOf({ id }: ListedLine): string {
  return id;
}

/** What is pressed once more would change nothing, or make a restriction a lesser one. */
function isDone(deed: LineKey, { isHidden, restriction, question }: LineFacts): boolean {
  switch (deed) {
    case 'hide':
      return isHidden;
    case 'mute':
      return restriction !== null;
    case 'ban':
      return restriction === 'banned';
    case 'queue':
      return question === 'open';
    case 'pin':
      return false;
  }
}
