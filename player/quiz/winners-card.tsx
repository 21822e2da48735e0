import { useRef } from 'react';
import { Icon } from '../icon.tsx';
import { Confetti } from './confetti.tsx';
import type { WinnersText } from './quiz-text.ts';
import { useCollapseWhileTyping } from './use-collapse-while-typing.ts';
import { useTemporaryFocus } from './use-temporary-focus.ts';

interface WinnersCardProps {
  readonly text: WinnersText;
  readonly hasWon: boolean;
  onClose(): void;
}

/** The winners of a round; a single row while the card would cover a focused text field. */
export function WinnersCard({ text: { title, more }, hasWon, onClose }: WinnersCardProps) {
  const card = useRef<HTMLElement>(null);
  const [isCollapsed, expand] = useCollapseWhileTyping(card);
  useTemporaryFocus(card, isCollapsed);
  const expandedClass = hasWon ? 'quiz winners winners--own' : 'quiz winners';
  return (
    <>
      {hasWon && <Confetti />}
      <section
        ref={card}
        className={isCollapsed ? 'quiz quiz--collapsed' : expandedClass}
        aria-label="Winners"
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // Escape closes only the card, not the full window.
          event.preventDefault();
          onClose();
        }}
      >
        {isCollapsed ? (
          <header className="quiz-head">
            <span className={hasWon ? 'quiz-mark quiz-mark--won' : 'quiz-mark'}>
              <Icon name="winner" />
            </span>
            <h2 className="quiz-status">{title}</h2>
            <button
              type="button"
              className="quiz-button"
              onClick={(event) => {
                // Safari does not focus a clicked button, so the text field would keep the focus.
                event.currentTarget.focus();
                expand();
              }}
            >
              Show<span className="unseen"> the winners</span>
            </button>
          </header>
        ) : (
          <>
            <span className="winners-cup">
              <Icon name="winner" />
            </span>
            <h2 className="winners-title">{title}</h2>
            {more !== '' && <p className="winners-more">{more}</p>}
            <button type="button" className="quiz-button" onClick={onClose}>
              Close
            </button>
          </>
        )}
      </section>
    </>
  );
}
