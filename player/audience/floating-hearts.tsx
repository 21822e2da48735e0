import { type CSSProperties, useState } from 'react';
import { Icon } from '../icon.tsx';
import { addHearts, type FloatingHeart, NO_HEARTS, removeHeart } from './heart-animation.ts';

interface FloatingHeartsProps {
  /** Gives the lane its position and size. */
  readonly className: string;
  readonly hearts: readonly FloatingHeart[];
  onEnd(id: number): void;
}

/** Hearts that float from the bottom of a lane to its top. */
export function FloatingHearts({ className, hearts, onEnd }: FloatingHeartsProps) {
  return (
    <div className={`floating ${className}`} aria-hidden="true">
      {hearts.map((heart) => (
        <span
          key={heart.id}
          className="floating-heart"
          style={styleOf(heart)}
          onAnimationEnd={({ animationName }) => {
            if (animationName === 'heart-floats') onEnd(heart.id);
          }}
        >
          <Icon name="heart" />
        </span>
      ))}
    </div>
  );
}

/** The state of one lane of floating hearts. */
export function useFloatingHearts() {
  const [animation, setAnimation] = useState(NO_HEARTS);
  return {
    hearts: animation.hearts,
    add: (count: number) => setAnimation((before) => addHearts(before, count, Math.random)),
    remove: (id: number) => setAnimation((before) => removeHeart(before, id)),
  };
}

function styleOf({ x, sway, size, delayMs, durationMs }: FloatingHeart): CSSProperties {
  return {
    left: `${x * 100}%`,
    '--sway': sway,
    '--size': size,
    animationDelay: `${delayMs}ms`,
    animationDuration: `${durationMs}ms`,
  } as CSSProperties;
}
