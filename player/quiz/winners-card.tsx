import { useRef } from 'react';
import { Icon } from '../icon.tsx';
import { Confetti } from './confetti.tsx';
import type { WinnerWords } from './quiz-words.ts';
import { useBorrowedFocus } from './use-borrowed-focus.ts';
import { useMakingWay } from './use-making-way.ts';

interface WinnersCardProps {
  readonly words: WinnerWords;
  readonly hasWon: boolean;
  onClose(): void;
}

/** Who has won: a line alone, while it would cover the box that somebody writes in. */
export function WinnersCard({ words: { title, more }, hasWon, onClose }: WinnersCardProps) {
  const place = useRef<HTMLElement>(null);
  const [isMakingWay, endMakingWay] = useMakingWay(place);
  useBorrowedFocus(place, isMakingWay);
  const look = hasWon ? 'quiz winners winners--own' : 'quiz winners';
  return (
    <>
      {hasWon && <Confetti />}
      <section
        ref={place}
        className={isMakingWay ? 'quiz quiz--aside' : look}
        aria-label="Winners"
        tabIndex={-1}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // It closes this, and nothing that this is in.
          event.preventDefault();
          onClose();
        }}
      >
        {isMakingWay ? (
          <header className="quiz-head">
            <span className={hasWon ? 'quiz-mark quiz-mark--won' : 'quiz-mark'}>
              <Icon name="winner" />
            </span>
            <h2 className="quiz-standing">{title}</h2>
            <button
              type="button"
              className="quiz-button"
              onClick={(event) => {
                // Not every browser does so: but who sees the winners no longer writes.
                event.currentTarget.focus();
                endMakingWay();
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
