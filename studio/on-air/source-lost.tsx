import type { LiveState } from '../../protocol/live.ts';
import { timeOf } from '../shell/times.ts';
import { KeepOpenButton } from '../source/keep-open-button.tsx';
import { texts as sourceTexts } from '../source/texts.ts';
import { texts } from './texts.ts';

interface SourceLostProps {
  readonly state: LiveState;
  /** When the show ends unless the source returns, Unix ms. */
  readonly endsAtMs: number;
}

/** A live show whose source left: counts down to its end, and lets a host keep it open. */
export function SourceLost({ state, endsAtMs }: SourceLostProps) {
  return (
    <div className="grid size-full content-center justify-items-center gap-1 overflow-y-auto bg-bad-soft p-0.5 text-center text-bad lg:gap-2 lg:p-4">
      {/* The time of the end: a screen reader would read out a countdown every second. */}
      <p role="alert" className="sr-only font-semibold lg:not-sr-only">
        {sourceTexts.sourceLost.explanation(timeOf(endsAtMs))}
      </p>
      <p aria-hidden="true" className="text-xs font-semibold lg:hidden">
        {texts.video.sourceLostShort}
      </p>
      <p aria-hidden="true" className="text-xl/none font-bold tabular-nums lg:text-3xl">
        {durationText(endsAtMs - state.now)}
      </p>
      <KeepOpenButton stream={state.stream} />
    </div>
  );
}

/** Minutes and seconds, such as `0:07`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
