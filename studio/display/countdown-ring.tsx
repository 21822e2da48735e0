import type { CSSProperties } from 'react';

/** The ring is highlighted from here on. */
const SHORT_MS = 5_000;

interface CountdownRingProps {
  readonly remainingMs: number;
  /** Duration of the quiz. */
  readonly durationMs: number;
}

/** The remaining time as viewers see it: whole seconds and a ring. */
export function CountdownRing({ remainingMs, durationMs }: CountdownRingProps) {
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
