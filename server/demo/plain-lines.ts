import { isOf } from './event-kinds.ts';
import { clockTime, figure, megabytes } from './figures.ts';
import type { CrowdReport } from './messages.ts';
import type { Show } from './show.ts';
import { allHold, CHECKS, type Verdicts } from './verdict.ts';

/** What happened with a report, one plain line each (O-19). @param before the show without it */
export function eventLines(before: Show, show: Show, report: CrowdReport): string[] {
  const lines: string[] = [];
  let quizzes = before.quizzes;
  let { rounds } = before;
  for (const event of report.events) {
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
  lines.push(...newMismatches(before.verdicts, show.verdicts));
  return lines.map((line) => `${clockTime(show.elapsedMs)}  ${line}`);
}

/** How things stand, in one plain line. */
export function statusLine(show: Show): string {
  const { p50Ms, p99Ms } = show.recent;
  return [
    `${clockTime(show.elapsedMs)}  ${figure(show.count?.value ?? 0)} viewers`,
    `interval ${show.interval ?? 'soon'}`,
    `${figure(show.requestsPerSecond)} requests/s`,
    `late by ${p50Ms} ms, 99 % within ${p99Ms} ms`,
    `checks ${allHold(show.verdicts) ? 'ok' : 'FAILED'}`,
  ].join(' · ');
}

/** What the demo says when it is over. */
export function summaryLines(show: Show): string[] {
  const seconds = show.elapsedMs / 1_000;
  const { overall, serverBytes, chat } = show;
  const rate = figure(seconds > 0 ? show.requests / seconds : 0);
  const lines = [
    `The show is over after ${clockTime(show.elapsedMs)}.`,
    `  viewers     ${figure(show.peak)} at most, of ${figure(show.viewers)}`,
    `  quizzes     ${figure(show.quizzes)} asked, ${figure(show.answers)} answers counted, winners rounds: ${figure(show.rounds)}`,
    `  chat        ${figure(chat.lines)} lines, ${figure(chat.hearts)} hearts`,
    `  requests    ${figure(show.requests)}, ${rate} a second, ${figure(show.troubles)} in trouble`,
    `  lateness    ${overall.p50Ms} ms, 99 % within ${overall.p99Ms} ms`,
  ];
  if (serverBytes) {
    const full = serverBytes.full === null ? '' : `${megabytes(serverBytes.full)} with everybody, `;
    lines.push(`  memory      server ${full}${megabytes(serverBytes.now)} at the end`);
  }
  const checks = CHECKS.map((check) => {
    const { checks: made, mismatches } = show.verdicts[check];
    return `${check} ${mismatches === 0 ? `ok (${figure(made)})` : `WRONG ${figure(mismatches)} of ${figure(made)}`}`;
  });
  lines.push(`  self-check  ${checks.slice(0, 3).join(', ')},`);
  lines.push(`              ${checks.slice(3).join(', ')}`);
  for (const mismatch of newMismatches(null, show.verdicts)) lines.push(`  ${mismatch}`);
  return lines;
}

function newMismatches(before: Verdicts | null, now: Verdicts): string[] {
  return CHECKS.filter((check) => now[check].first !== (before?.[check].first ?? null)).map(
    (check) => `MISMATCH in ${check}: ${now[check].first}`,
  );
}
