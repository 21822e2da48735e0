import type { CSSProperties } from 'react';
import { Icon } from '../icon.tsx';
import type { Flight } from './heart-flights.ts';

interface RisingHeartsProps {
  readonly className: string;
  readonly flights: readonly Flight[];
  onLanded(id: number): void;
}

/** Hearts in the air, from the bottom of the place that the class gives them. */
export function RisingHearts({ className, flights, onLanded }: RisingHeartsProps) {
  return (
    <div className={`rising ${className}`} aria-hidden="true">
      {flights.map((flight) => (
        <span
          key={flight.id}
          className="rising-heart"
          style={styleOf(flight)}
          // The swing ends by itself too: the rise is what counts.
          onAnimationEnd={({ animationName }) => {
            if (animationName === 'heart-rises') onLanded(flight.id);
          }}
        >
          <Icon name="heart" />
        </span>
      ))}
    </div>
  );
}

function styleOf({ place, sway, size, delayMs, durationMs }: Flight): CSSProperties {
  return {
    left: `${place * 100}%`,
    '--sway': sway,
    '--size': size,
    animationDelay: `${delayMs}ms`,
    animationDuration: `${durationMs}ms`,
  } as CSSProperties;
}
