import {
  allPassed,
  CHECKS,
  type Check,
  type CheckResults,
} from '../../crowd/ledger/check-results.ts';
import { isOf } from '../../crowd/ledger/event-kinds.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import {
  fitToColumns,
  formatDuration,
  formatInteger,
  formatMegabytes,
} from '../../server/platform/format.ts';
import type { ShowState } from './show.ts';
import { videoText } from './video-text.ts';

/** One plain line for each event and each new mismatch (O-19). @param before state before the events */
export function eventLines(
  before: ShowState,
  show: ShowState,
  events: readonly FeedEvent[],
): string[] {
  const lines: string[] = [];
  let quizzes = before.quizzes;
  let { rounds } = before;
  for (const event of events) {
    if (isOf(event, 'quiz')) {
      quizzes++;
      lines.push(`quiz ${quizzes}: ${event.data.question} (${event.data.order.join(', ')})`);
    } else if (isOf(event, 'quiz-results')) {
      const { order, choices, answer } = event.data;
      const shares = order.map((choice) => {
        const { count = 0, percentage = 0 } = choices[choice] ?? {};
        return `${choice === answer ? '*' : ''}${choice} ${count} (${percentage} %)`;
      });
      lines.push(`results of quiz ${quizzes}: ${shares.join(', ')}`);
    } else if (isOf(event, 'request-quiz-winners')) {
      rounds++;
      lines.push(`winners round ${rounds}`);
    } else if (isOf(event, 'quiz-winners')) {
      lines.push(`winners of round ${rounds}: ${event.data.count}`);
    }
  }
  lines.push(...newMismatches(before.checkResults, show.checkResults));
  return lines.map((line) => `${formatDuration(show.elapsedMs)}  ${line}`);
}

export function statusLine(show: ShowState): string {
  const { p50Ms, p99Ms } = show.recent;
  const viewers = `${formatInteger(show.count?.value ?? 0)} viewers`;
  return [
    `${formatDuration(show.elapsedMs)}  ${viewers}${externalViewersText(', ', show.externalViewers.present)}`,
    `interval ${show.interval ?? 'soon'}`,
    `${formatInteger(show.requestsPerSecond)} requests/s`,
    `delay ${p50Ms} ms, 99 % within ${p99Ms} ms`,
    `checks ${allPassed(show.checkResults) ? 'ok' : 'FAILED'}`,
  ].join(' · ');
}

/** A plain line when the state of the video has changed. */
export function videoLines(before: ShowState, show: ShowState): string[] {
  const { video } = show;
  if (video === null || video.state === before.video?.state) return [];
  return [`${formatDuration(show.elapsedMs)}  video: ${videoText(video)}`];
}

export function summaryLines(show: ShowState): string[] {
  const seconds = show.elapsedMs / 1_000;
  const { overall, serverBytes, chat, externalViewers } = show;
  const crowd = `${formatInteger(show.viewers)}${externalViewersText(', and ', externalViewers.total)}`;
  const rate = formatInteger(seconds > 0 ? show.requests / seconds : 0);
  const lines = [
    `The show is over after ${formatDuration(show.elapsedMs)}.`,
    `  viewers     ${formatInteger(show.peak)} at most, of ${crowd}`,
    `  quizzes     ${formatInteger(show.quizzes)} asked, ${formatInteger(show.answers)} answers counted, winners rounds: ${formatInteger(show.rounds)}`,
    `  chat        ${formatInteger(chat.messages)} messages, ${formatInteger(chat.hearts)} hearts`,
    `  requests    ${formatInteger(show.requests)}, ${rate} a second, ${formatInteger(show.failures)} failed`,
    `  delay       ${overall.p50Ms} ms, 99 % within ${overall.p99Ms} ms`,
  ];
  if (serverBytes) {
    const full =
      serverBytes.full === null ? '' : `${formatMegabytes(serverBytes.full)} with all viewers, `;
    lines.push(`  memory      server ${full}${formatMegabytes(serverBytes.now)} at the end`);
  }
  for (const check of CHECKS) {
    const label = check === CHECKS[0] ? 'self-check' : '';
    lines.push(`  ${fitToColumns(label, 12)}${fitToColumns(check, 10)} ${resultOf(check, show)}`);
  }
  for (const mismatch of newMismatches(null, show.checkResults)) lines.push(`  ${mismatch}`);
  return lines;
}

// Viewers from outside are not of the crowd, such as people who opened the watch page.
function externalViewersText(before: string, others: number): string {
  return others === 0 ? '' : `${before}${formatInteger(others)} from outside`;
}

const CHECK_DESCRIPTIONS: Readonly<Record<Check, string>> = {
  count: 'counts compared with heartbeats',
  bodies: 'bodies compared byte by byte',
  intervals: 'intervals read, none omitted',
  answers: 'answers and results',
  winners: 'winner reports and rounds',
  events: 'events of the host',
};

function resultOf(check: Check, { checkResults, countTolerance }: ShowState): string {
  const { checks, mismatches } = checkResults[check];
  if (checks === 0) return 'nothing to check';
  const result = mismatches === 0 ? 'ok' : `FAILED ${formatInteger(mismatches)} times`;
  const precision = check === 'count' ? `, within ${countTolerance.toFixed(1)} viewers` : '';
  return `${result}: ${formatInteger(checks)} ${CHECK_DESCRIPTIONS[check]}${precision}`;
}

function newMismatches(before: CheckResults | null, now: CheckResults): string[] {
  return CHECKS.filter((check) => now[check].first !== (before?.[check].first ?? null)).map(
    (check) => `MISMATCH in ${check}: ${now[check].first}`,
  );
}
