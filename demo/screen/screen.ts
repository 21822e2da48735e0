import { createLogUpdate } from 'log-update';
import pc from 'picocolors';
import type { CrowdReport } from '../../crowd/messages.ts';
import { dashboard } from './dashboard.ts';
import { eventLines, statusLine, videoLines } from './plain-lines.ts';
import type { ShowState } from './show.ts';

/** Displays the state of the show. */
export interface Screen {
  /** Prints a line before or after the show. */
  print(line: string): void;
  /** Displays the state after a report. @param before the state before it */
  update(before: ShowState, show: ShowState, report: CrowdReport): void;
  /** Displays a change of the video. @param before the state before it */
  updateVideo(before: ShowState, show: ShowState): void;
  /** Restores the terminal. */
  close(): void;
}

const STATUS_MS = 1_000;
const CLEAR = '\u001b[2J\u001b[H';

/** A dashboard that is redrawn in place four times a second (O-19). */
export function terminalScreen(terminal: NodeJS.WriteStream): Screen {
  const draw = createLogUpdate(terminal);
  const colors = pc.createColors(pc.isColorSupported);
  let latest: ShowState | null = null;
  const redraw = () => {
    if (!latest) return;
    draw(dashboard(latest, { columns: terminal.columns, rows: terminal.rows, colors }).join('\n'));
  };
  // Clear all: the terminal has rewrapped the last frame, so its height is unknown.
  const resized = () => {
    draw.clear();
    terminal.write(CLEAR);
    redraw();
  };
  terminal.on('resize', resized);
  return {
    print: (line) => terminal.write(`${line}\n`),
    update: (_, show) => {
      latest = show;
      redraw();
    },
    updateVideo: (_, show) => {
      latest = show;
    },
    close: () => {
      terminal.off('resize', resized);
      draw.done();
    },
  };
}

/** Plain lines: one for each event, and a status line each second (O-19). */
export function plainScreen(print: (line: string) => void): Screen {
  let statusMs = 0;
  return {
    print: print,
    update: (before, show, report) => {
      for (const line of eventLines(before, show, report.events)) print(line);
      if (show.elapsedMs - statusMs < STATUS_MS) return;
      statusMs = show.elapsedMs - (show.elapsedMs % STATUS_MS);
      print(statusLine(show));
    },
    updateVideo: (before, show) => {
      for (const line of videoLines(before, show)) print(line);
    },
    close: () => {},
  };
}
