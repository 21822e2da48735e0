import { useState } from 'react';
import type { Viewer } from '../../sdk/viewer.ts';
import { Icon } from '../icon.tsx';
import { useReducedMotion } from '../reduced-motion.ts';
import { texts } from '../texts.ts';
import { FloatingHearts, useFloatingHearts } from './floating-hearts.tsx';

/**
 * Sends hearts. Shows the viewer's heart at once; the hearts over the video follow the feed.
 * @param isPaused whether the chat is paused: the service accepts no hearts
 */
export function HeartButton({ viewer, isPaused }: { viewer: Viewer; isPaused: boolean }) {
  const isReducedMotion = useReducedMotion();
  const floating = useFloatingHearts();
  const [sent, setSent] = useState(0);
  const send = () => {
    if (isPaused) return;
    viewer.sendHeart();
    setSent(sent + 1);
    if (!isReducedMotion) floating.add(1);
  };
  return (
    <div className="heart">
      <FloatingHearts className="floating--own" hearts={floating.hearts} onEnd={floating.remove} />
      <button
        type="button"
        className="round-button heart-button"
        aria-disabled={isPaused}
        onClick={send}
      >
        <Icon name="heart" />
        <span className="unseen">{texts.hearts.send}</span>
        {isReducedMotion && sent > 0 && (
          <span className="heart-sent" aria-hidden="true">
            {sent}
          </span>
        )}
      </button>
      <span className="unseen" role="status">
        {sent === 0 ? '' : texts.hearts.sent(sent)}
      </span>
    </div>
  );
}
