import type { CSSProperties } from 'react';

/** From here on it is to be seen that time runs out. */
const SHORT_MS = 5_000;

interface WallRingProps {
  readonly remainingMs: number;
  /** Of the whole quiz, ms. */
  readonly durationMs: number;
}

/** How long viewers see the quiz open: whole seconds, and the share of them as a ring. */
export function WallRing({ remainingMs, durationMs }: WallRingProps) {
  const share = Math.min(1, remainingMs / durationMs);
  return (
    <div
      className={remainingMs <= SHORT_MS ? 'ring ring--short' : 'ring'}
      role="timer"
      style={{ '--share': share } as CSSProperties}
    >
      <span className="ring-seconds">{Math.ceil(remainingMs / 1_000)}</span>
      <span className="unseen"> seconds left</span>
    </div>
  );
}
