import type { CSSProperties } from 'react';
import { useReducedMotion } from '../reduced-motion.ts';

const PIECES = 40;
const COLOURS = ['#ffd166', '#ff6fa5', '#b9a2ff', '#5dd39a', '#6cc5ff'];

/** Falls once; never for who wants things to stay where they are. */
export function Confetti() {
  if (useReducedMotion()) return null;
  return (
    <div className="confetti" aria-hidden="true">
      {Array.from({ length: PIECES }, (_, piece) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike, and stay
        <span key={piece} className="confetti-piece" style={styleOf(piece)} />
      ))}
    </div>
  );
}

/** Scattered by the golden ratio, so that it looks like chance and is the same each time. */
function styleOf(piece: number): CSSProperties {
  const place = (piece * 0.618034) % 1;
  const other = (piece * 0.754878) % 1;
  return {
    left: `${place * 100}%`,
    background: COLOURS[piece % COLOURS.length],
    animationDelay: `${Math.round(other * 900)}ms`,
    animationDuration: `${Math.round(2_200 + place * 1_600)}ms`,
    '--turn': `${Math.round(360 + other * 720)}deg`,
    '--drift': `${(other - 0.5) * 8}rem`,
  } as CSSProperties;
}
