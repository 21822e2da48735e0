import { createLogUpdate } from 'log-update';
import { clockTime, figure } from '../../platform/figures.ts';

/** How playing goes. */
export interface PlayState {
  readonly isLive: boolean;
  readonly elapsedMs: number;
  readonly sentBytes: number;
  /** Frames drawn, and those left out because the encoder was busy; null: they are not ours. */
  readonly frames: { readonly drawn: number; readonly skipped: number } | null;
}

/** Where it is said how playing goes. */
export interface PlayReport {
  /** Something happened. */
  say(line: string): void;
  /** How things stand, once a second. */
  show(state: PlayState): void;
  /** Leaves the terminal as it was. */
  close(): void;
}

const LINE_MS = 10_000;

/** One line that is written anew each second, and a line for all that happens. */
export function terminalReport(terminal: NodeJS.WriteStream): PlayReport {
  const draw = createLogUpdate(terminal);
  const lineOf = statusLines();
  return {
    say: (line) => {
      draw.clear();
      terminal.write(`${line}\n`);
    },
    show: (state) => draw(lineOf(state)),
    close: () => draw.done(),
  };
}

/** A line for all that happens, and one each ten seconds. */
export function plainReport(print: (line: string) => void): PlayReport {
  const lineOf = statusLines();
  let nextMs = LINE_MS;
  return {
    say: print,
    show: (state) => {
      if (state.elapsedMs < nextMs) return;
      nextMs = state.elapsedMs + LINE_MS;
      print(lineOf(state));
    },
    close: () => {},
  };
}

/** @returns what makes a line of each state; rates are since the line before */
export function statusLines(): (state: PlayState) => string {
  let before = { elapsedMs: 0, sentBytes: 0, drawn: 0 };
  return ({ isLive, elapsedMs, sentBytes, frames }) => {
    const seconds = Math.max(0.001, (elapsedMs - before.elapsedMs) / 1_000);
    const kilobits = ((sentBytes - before.sentBytes) * 8) / 1_000 / seconds;
    const rate = ((frames?.drawn ?? 0) - before.drawn) / seconds;
    before = { elapsedMs, sentBytes, drawn: frames?.drawn ?? 0 };
    return [
      `${clockTime(elapsedMs)}  ${isLive ? 'live' : 'connecting'}`,
      `${figure(kilobits)} kbit/s`,
      ...(frames ? [`${rate.toFixed(1)} frames/s`, `${figure(frames.skipped)} left out`] : []),
    ].join(' · ');
  };
}
