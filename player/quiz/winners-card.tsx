import { useRef } from 'react';
import { Icon } from '../icon.tsx';
import { Confetti } from './confetti.tsx';
import type { WinnerWords } from './quiz-words.ts';
import { useBorrowedFocus } from './use-borrowed-focus.ts';

interface WinnersCardProps {
  readonly words: WinnerWords;
  readonly hasWon: boolean;
  onClose(): void;
}

/** Who has won. */
export function WinnersCard({ words: { title, more }, hasWon, onClose }: WinnersCardProps) {
  const place = useRef<HTMLElement>(null);
  useBorrowedFocus(place);
  return (
    <>
      {hasWon && <Confetti />}
      <section
        ref={place}
        className={hasWon ? 'quiz winners winners--own' : 'quiz winners'}
        aria-label="Winners"
        tabIndex={-1}
        onKeyDown={({ key }) => {
          if (key === 'Escape') onClose();
        }}
      >
        <span className="winners-cup">
          <Icon name="winner" />
        </span>
        <h2 className="winners-title">{title}</h2>
        <p className="winners-more">{more}</p>
        <button type="button" className="quiz-button" onClick={onClose}>
          Close
        </button>
      </section>
    </>
  );
}
