import { useRef } from 'react';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import { Confetti } from './confetti.tsx';
import type { WinnersText } from './quiz-text.ts';
import { useAboveCompose } from './use-above-compose.ts';
import { useHaptics } from './use-haptics.ts';
import { useTemporaryFocus } from './use-temporary-focus.ts';

interface WinnersCardProps {
  readonly text: WinnersText;
  readonly hasWon: boolean;
  /** The code under which the host knows this winner; null: not a winner, or not known. */
  readonly code: string | null;
  onClose(): void;
}

/** The winners of a round. */
export function WinnersCard({ text: { title, more }, hasWon, code, onClose }: WinnersCardProps) {
  const card = useRef<HTMLElement>(null);
  const { isAbove, onMouseDown } = useAboveCompose(card);
  useTemporaryFocus(card);
  useHaptics(hasWon ? 'won' : null);
  return (
    <>
      {hasWon && <Confetti />}
      <section
        ref={card}
        className={`quiz winners${hasWon ? ' winners--own' : ''}${isAbove ? ' quiz--above-compose' : ''}`}
        aria-label={texts.winners.label}
        tabIndex={-1}
        onMouseDown={onMouseDown}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // Escape closes only the card, not the full window.
          event.preventDefault();
          onClose();
        }}
      >
        <span className="winners-cup">
          <Icon name="winner" />
        </span>
        <h2 className="winners-title">{title}</h2>
        {more !== '' && <p className="winners-more">{more}</p>}
        {code !== null && (
          <p className="winners-code">
            {texts.winners.code} <b>{code}</b>
          </p>
        )}
        <button type="button" className="quiz-button" onClick={onClose}>
          {texts.winners.close}
        </button>
      </section>
    </>
  );
}
