import { texts } from '../texts.ts';

const RADIUS = 20;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;
/** With less time left, the ring changes its color. */
const SHORT_MS = 5_000;

interface CountdownRingProps {
  readonly remainingMs: number;
  readonly durationMs: number;
}

/** The time left to answer: seconds as a number, the share as a ring. */
export function CountdownRing({ remainingMs, durationMs }: CountdownRingProps) {
  const share = Math.min(1, remainingMs / durationMs);
  return (
    <div className={remainingMs <= SHORT_MS ? 'ring ring--short' : 'ring'} role="timer">
      <svg className="ring-drawing" viewBox="0 0 48 48" aria-hidden="true">
        <circle className="ring-track" cx="24" cy="24" r={RADIUS} />
        <circle
          className="ring-share"
          cx="24"
          cy="24"
          r={RADIUS}
          strokeDasharray={CIRCUMFERENCE}
          strokeDashoffset={CIRCUMFERENCE * (1 - share)}
        />
      </svg>
      <span className="ring-seconds">{Math.ceil(remainingMs / 1_000)}</span>
      <span className="unseen"> {texts.quiz.secondsLeft}</span>
    </div>
  );
}
