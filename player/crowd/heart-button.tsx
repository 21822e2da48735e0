import { useState } from 'react';
import type { Viewer } from '../../sdk/viewer.ts';
import { Icon } from '../icon.tsx';
import { useReducedMotion } from '../reduced-motion.ts';
import { RisingHearts } from './rising-hearts.tsx';
import { useFlights } from './use-flights.ts';

/** Sends hearts. The own one rises at once: those over the picture come when it is there. */
export function HeartButton({
  viewer,
  isPaused,
}: {
  readonly viewer: Viewer;
  /** None are taken. */
  readonly isPaused: boolean;
}) {
  const isStill = useReducedMotion();
  const { flights, launch, land } = useFlights();
  const [sent, setSent] = useState(0);
  const send = () => {
    if (isPaused) return;
    viewer.heart();
    setSent(sent + 1);
    if (!isStill) launch(1);
  };
  return (
    <div className="heart">
      <RisingHearts className="rising--own" flights={flights} onLanded={land} />
      <button
        type="button"
        className="round-button heart-button"
        aria-disabled={isPaused}
        onClick={send}
      >
        <Icon name="heart" />
        <span className="unseen">Send a heart</span>
        {isStill && sent > 0 && (
          <span className="heart-sent" aria-hidden="true">
            {sent}
          </span>
        )}
      </button>
      <span className="unseen" role="status">
        {sent === 0 ? '' : sent === 1 ? 'A heart is sent' : `${sent} hearts are sent`}
      </span>
    </div>
  );
}
