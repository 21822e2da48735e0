import { createLogUpdate } from 'log-update';
import { formatDuration, formatInteger } from '../../platform/format.ts';

export interface PlayStatus {
  readonly isLive: boolean;
  readonly elapsedMs: number;
  readonly sentBytes: number;
  /** Frames drawn, and frames dropped because the encoder was busy; null for a file. */
  readonly frames: { readonly drawn: number; readonly dropped: number } | null;
}

/** Output of a play session. */
export interface PlayReport {
  /** Prints an event. */
  log(line: string): void;
  /** Shows the status; called once a second. */
  update(state: PlayStatus): void;
  /** Restores the terminal. */
  close(): void;
}

const PLAIN_INTERVAL_MS = 10_000;

/** A status line that is rewritten each second, and one line per event. */
export function terminalReport(terminal: NodeJS.WriteStream): PlayReport {
  const draw = createLogUpdate(terminal);
  const format = createStatusFormatter();
  return {
    log: (line) => {
      draw.clear();
      terminal.write(`${line}\n`);
    },
    update: (state) => draw(format(state)),
    close: () => draw.done(),
  };
}

/** One line per event, and a status line every ten seconds. */
export function plainReport(print: (line: string) => void): PlayReport {
  const format = createStatusFormatter();
  let nextMs = PLAIN_INTERVAL_MS;
  return {
    log: print,
    update: (state) => {
      if (state.elapsedMs < nextMs) return;
      nextMs = state.elapsedMs + PLAIN_INTERVAL_MS;
      print(format(state));
    },
    close: () => {},
  };
}

/** @returns a formatter of status lines; rates are averages since its previous call */
export function createStatusFormatter(): (state: PlayStatus) => string {
  let previous = { elapsedMs: 0, sentBytes: 0, drawn: 0 };
  return ({ isLive, elapsedMs, sentBytes, frames }) => {
    const seconds = Math.max(0.001, (elapsedMs - previous.elapsedMs) / 1_000);
    const kilobitsPerSecond = ((sentBytes - previous.sentBytes) * 8) / 1_000 / seconds;
    const frameRate = ((frames?.drawn ?? 0) - previous.drawn) / seconds;
    previous = { elapsedMs, sentBytes, drawn: frames?.drawn ?? 0 };
    return [
      `${formatDuration(elapsedMs)}  ${isLive ? 'live' : 'connecting'}`,
      `${formatInteger(kilobitsPerSecond)} kbit/s`,
      ...(frames
        ? [`${frameRate.toFixed(1)} frames/s`, `${formatInteger(frames.dropped)} dropped`]
        : []),
    ].join(' · ');
  };
}
