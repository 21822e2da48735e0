import { useEffect, useRef } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';
import { useReducedMotion } from '../reduced-motion.ts';
import { RisingHearts } from './rising-hearts.tsx';
import { useFlights } from './use-flights.ts';

/** Hearts that rise over the picture; for who wants things to stay where they are, their number. */
export function FlyingHearts({
  snapshot: { hearts },
  count,
}: {
  readonly snapshot: Snapshot;
  /** Those that were not seen before. */
  readonly count: number;
}) {
  const isStill = useReducedMotion();
  const { flights, launch, land } = useFlights();
  const seen = useRef(hearts);

  useEffect(() => {
    const added = hearts - seen.current;
    seen.current = hearts;
    // Nothing moves in a page that is hidden, so nothing would land.
    if (!isStill && !document.hidden) launch(added);
  });

  if (!isStill) return <RisingHearts className="rising--stage" flights={flights} onLanded={land} />;
  if (count === 0) return null;
  return (
    <p className="heart-number" aria-hidden="true">
      <Icon name="heart" /> {compact(count)}
    </p>
  );
}
