import type pc from 'picocolors';
import { allPassed, CHECKS } from '../../crowd/ledger/check-results.ts';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import {
  fitToColumns,
  formatDuration,
  formatInteger,
  formatMegabytes,
} from '../../server/platform/format.ts';
import { GAME_QUIZZES } from '../host/schedule.ts';
import { bar, bigNumber, chart } from './blocks.ts';
import type { QuizState, ShowState } from './show.ts';
import { videoText } from './video-text.ts';

/** Color functions of a terminal; they do nothing without color support. */
export type Colors = ReturnType<typeof pc.createColors>;

export interface Frame {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
}

const COLUMNS_MIN = 40;
const COLUMNS_MAX = 100;
const CHOICE_ROWS = 5;
const LABEL_COLUMNS = 12;

/**
 * Renders the dashboard (O-19): lines that fit the frame, always the same number, so that nothing
 * jumps. In a low frame blank lines are dropped first, then the last lines.
 */
export function dashboard(show: ShowState, { columns, rows, colors }: Frame): string[] {
  const width = Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns)) - 2;
  const lines = [
    ...titleLines(show, width, colors),
    '',
    ...audienceLines(show, width, colors),
    '',
    ...quizLines(show, width, colors),
    '',
    ...showLines(show, width, colors),
    '',
    ...videoLines(show, width, colors),
    ...serviceLines(show, width, colors),
  ];
  const max = Math.max(1, rows - 1);
  const visible = lines.length > max ? lines.filter((line) => line !== '') : lines;
  return visible.slice(0, max).map((line) => (line === '' ? '' : ` ${line}`));
}

function titleLines(show: ShowState, width: number, colors: Colors): string[] {
  const name = ' FOURBEAT ';
  const hint = show.isEnding ? 'ending: last checks' : 'Ctrl-C ends the show';
  const end = `${formatDuration(show.elapsedMs)} · ${hint}`;
  const heading = fitToColumns(' the demo, a live event', width - name.length - end.length);
  return [
    colors.inverse(colors.bold(name)) + heading + colors.dim(end),
    ...(show.video === null
      ? []
      : [addressLine('Watch', `${show.origin}/watch/${show.streamId}`, width, colors)]),
    addressLine('Open', `${show.origin}/docs`, width, colors),
  ];
}

function addressLine(label: string, address: string, width: number, colors: Colors): string {
  return (
    colors.dim(fitToColumns(label, LABEL_COLUMNS)) +
    colors.cyan(fitToColumns(address, width - LABEL_COLUMNS))
  );
}

function audienceLines(show: ShowState, width: number, colors: Colors): string[] {
  const value = show.count?.value ?? 0;
  const digits = bigNumber(value);
  const chartAt = Math.max(LABEL_COLUMNS, digits[0].length + 1);
  const charted = chart(show.history, Math.min(60, width - chartAt), digits.length);
  const beat = show.interval === null ? -1 : show.interval % 4;
  const dots = [0, 1, 2, 3].map((dot) => (dot === beat ? colors.cyan('●') : colors.dim('○')));
  const interval = show.interval === null ? 'soon' : formatInteger(show.interval);
  const { present } = show.externalViewers;
  const outside = present === 0 ? '' : `${formatInteger(present)} from outside · `;
  const available = width - chartAt - '● ○ ○ ○  '.length;
  return [
    ...digits.map(
      (row, index) => colors.bold(fitToColumns(row, chartAt)) + colors.cyan(charted[index] ?? ''),
    ),
    colors.bold(fitToColumns(value === 1 ? 'viewer' : 'viewers', chartAt)) +
      `${dots.join(' ')}  ${colors.dim(fitToColumns(`${outside}interval ${interval}, four a second`, available))}`,
  ];
}

function quizLines(show: ShowState, width: number, colors: Colors): string[] {
  const { quiz } = show;
  const blank = Array.from({ length: CHOICE_ROWS }, () => ' ');
  if (!quiz)
    return [
      colors.dim(fitToColumns('The first question comes once the viewers have joined.', width)),
      ...blank,
    ];
  const label = fitToColumns(`Quiz ${quiz.number}`, LABEL_COLUMNS);
  const state = stateOf(quiz, show.interval);
  const question = fitToColumns(quiz.quiz.question, width - LABEL_COLUMNS - state.length - 1);
  const shown = quiz.answer === null ? colors.yellow(state) : colors.green(state);
  return [
    `${colors.bold(label + question)} ${shown}`,
    ...choiceLines(quiz, show.count?.value ?? 0, width, colors),
    ...blank.slice(quiz.quiz.order.length),
  ];
}

function stateOf({ quiz, answer }: QuizState, interval: number | null): string {
  if (answer !== null) return 'results';
  const leftMs = (quiz.closeInterval - (interval ?? 0) - 1) * INTERVAL_MS;
  return leftMs > 0 ? `${Math.ceil(leftMs / 1_000)} s left` : 'closed';
}

function choiceLines(
  { quiz, counts, percentages, answer }: QuizState,
  viewers: number,
  width: number,
  colors: Colors,
): string[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  // A full bar is the whole audience, so that bars grow as answers arrive.
  const max = Math.max(1, total, viewers);
  const nameWidth = Math.min(18, Math.max(...quiz.order.map((text) => Bun.stringWidth(text)))) + 3;
  const figureWidth = 16;
  return quiz.order.slice(0, CHOICE_ROWS).map((choice, index) => {
    const count = counts[index] ?? 0;
    const isRight = choice === answer;
    const paint = answer === null ? colors.yellow : isRight ? colors.green : colors.dim;
    const mark = isRight ? colors.green('✓ ') : '  ';
    const filledBar = bar(count / max, width - nameWidth - figureWidth);
    const numbers =
      fitToColumns(formatInteger(count), 9, 'right') +
      fitToColumns(`${percentages[index] ?? 0} %`, 7, 'right');
    const text = fitToColumns(choice, nameWidth - 2);
    return mark + (isRight ? colors.bold(text) : text) + paint(filledBar) + numbers;
  });
}

function showLines({ winners, chat }: ShowState, width: number, colors: Colors): string[] {
  const available = width - LABEL_COLUMNS;
  const round = winners?.round ?? 0;
  const text =
    winners?.count === null
      ? `round ${round}: who had all ${GAME_QUIZZES} right?`
      : `round ${round}: ${formatInteger(winners?.count ?? 0)} had all ${GAME_QUIZZES} right`;
  const hearts = `♥ ${formatInteger(chat.hearts)}  ${formatInteger(chat.messages)} messages`;
  const message = chat.last ? `${chat.last.name}: ${chat.last.text}` : 'no messages yet';
  const none = `after every ${GAME_QUIZZES} quizzes`;
  return [
    colors.dim(fitToColumns('Winners', LABEL_COLUMNS)) +
      (winners
        ? colors.magenta(fitToColumns(text, available))
        : colors.dim(fitToColumns(none, available))),
    colors.dim(fitToColumns('Chat', LABEL_COLUMNS)) +
      fitToColumns(message, available - hearts.length - 1) +
      ` ${colors.red(hearts.slice(0, 1))}${colors.dim(hearts.slice(1))}`,
  ];
}

function videoLines({ video }: ShowState, width: number, colors: Colors): string[] {
  if (video === null) return [];
  const text = fitToColumns(videoText(video), width - LABEL_COLUMNS);
  const shown = video.state === 'live' ? text : colors.yellow(text);
  return [colors.dim(fitToColumns('Video', LABEL_COLUMNS)) + shown];
}

function serviceLines(show: ShowState, width: number, colors: Colors): string[] {
  const available = width - LABEL_COLUMNS;
  const { p50Ms, p99Ms } = show.recent;
  const parts = [
    `${formatInteger(show.requestsPerSecond)} requests/s`,
    `delay ${p50Ms} ms, 99 % within ${p99Ms} ms`,
    ...(show.serverBytes ? [formatMegabytes(show.serverBytes.now)] : []),
    ...(show.failures > 0 ? [`${formatInteger(show.failures)} failed`] : []),
  ];
  const path = `${show.origin.replace('http://', '')}/api/v1/streams/${show.streamId}`;
  return [
    colors.dim(fitToColumns('Service', LABEL_COLUMNS)) + fitToColumns(parts.join(' · '), available),
    colors.dim(fitToColumns('Self-check', LABEL_COLUMNS)) + checkLine(show, available, colors),
    colors.dim(fitToColumns(`$ curl ${path}`, width)),
  ];
}

function checkLine({ checkResults }: ShowState, available: number, colors: Colors): string {
  if (!allPassed(checkResults)) {
    const failed = CHECKS.filter((check) => checkResults[check].mismatches > 0);
    const first = failed[0] ? checkResults[failed[0]].first : '';
    return colors.red(fitToColumns(`✗ ${failed.join(', ')}: ${first}`, available));
  }
  const made = CHECKS.filter((check) => checkResults[check].checks > 0);
  if (CHECKS.join('  ✓ ').length + 2 > available) {
    return colors.green(fitToColumns(made.length > 0 ? '✓ all checks pass' : '', available));
  }
  const marks = CHECKS.map((check) => {
    return made.includes(check) ? `${colors.green('✓')} ${check}` : colors.dim(`· ${check}`);
  });
  return marks.join('  ');
}
