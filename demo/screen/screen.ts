import { createLogUpdate } from 'log-update';
import pc from 'picocolors';
import type { CrowdReport } from '../../crowd/messages.ts';
import { dashboard } from './dashboard.ts';
import { eventLines, statusLine, videoLines } from './plain-lines.ts';
import type { ShowState } from './show.ts';

/** Where the show is shown. */
export interface Screen {
  /** Says something before the show, or after it. */
  print(line: string): void;
  /** Shows how things stand. @param before the show without this report */
  update(before: ShowState, show: ShowState, report: CrowdReport): void;
  /** Shows how the video is. @param before the show before that was known */
  updateVideo(before: ShowState, show: ShowState): void;
  /** Leaves the terminal as it was. */
  close(): void;
}

const STATUS_MS = 1_000;
const CLEAR = '\u001b[2J\u001b[H';

/** A dashboard that is drawn in place, four times a second (O-19). */
export function terminalScreen(terminal: NodeJS.WriteStream): Screen {
  const draw = createLogUpdate(terminal);
  const colors = pc.createColors(pc.isColorSupported);
  let latest: ShowState | null = null;
  const redraw = () => {
    if (!latest) return;
    draw(dashboard(latest, { columns: terminal.columns, rows: terminal.rows, colors }).join('\n'));
  };
  // A terminal breaks the lines of the last frame anew, so where they end now nobody knows.
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

/** Plain lines: one for everything that happens, and one a second (O-19). */
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
