import { type CSSProperties, useState } from 'react';
import { useReducedMotion } from '../reduced-motion.ts';

const PIECES = 40;
const COLORS = ['#ffd166', '#ff6fa5', '#b9a2ff', '#5dd39a', '#6cc5ff'];

/** Confetti that falls once; none with reduced motion. */
export function Confetti() {
  const isReducedMotion = useReducedMotion();
  const [styles] = useState(() => Array.from({ length: PIECES }, randomStyle));
  if (isReducedMotion) return null;
  return (
    <div className="confetti" aria-hidden="true">
      {styles.map((style, piece) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes
        <span key={piece} className="confetti-piece" style={style} />
      ))}
    </div>
  );
}

function randomStyle(_: unknown, piece: number): CSSProperties {
  return {
    left: `${Math.random() * 100}%`,
    background: COLORS[piece % COLORS.length],
    animationDelay: `${Math.round(Math.random() * 900)}ms`,
    animationDuration: `${Math.round(2_200 + Math.random() * 1_600)}ms`,
    '--turn': `${Math.round(360 + Math.random() * 720)}deg`,
    '--drift': `${(Math.random() - 0.5) * 8}rem`,
  } as CSSProperties;
}
