import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import pc from 'picocolors';
import { CHECKS, type CheckResults, NO_CHECK_RESULTS } from '../../crowd/ledger/check-results.ts';
import { sampleQuiz } from '../../test/support/crowd/events.ts';
import { dashboard } from './dashboard.ts';
import { eventLines, statusLine, summaryLines, videoLines } from './plain-lines.ts';
import { newShow, type ShowState } from './show.ts';

const plain = pc.createColors(false);
const passing = Object.fromEntries(
  CHECKS.map((check) => [check, { checks: 100, mismatches: 0, first: null }]),
) as CheckResults;
const start = newShow({
  origin: 'http://localhost:4250',
  streamId: '0b6d8f62-3d52-4a4e-9d3e-9f1c2a7d5b11',
  viewers: 200,
  video: null,
});
const running: ShowState = {
  ...start,
  elapsedMs: 151_000,
  interval: 7_043_882_113,
  arrived: 200,
  count: { value: 198, formatted: '198', low: 197, high: 198 },
  externalViewers: { present: 0, total: 0 },
  countTolerance: 0.2,
  history: Array.from({ length: 60 }, (_, second) => Math.min(198, 20 * second)),
  peak: 199,
  quiz: {
    number: 7,
    quiz: sampleQuiz({
      closeInterval: 7_043_882_130,
      order: ['Mars', 'Jupiter', 'Venus', 'Saturn'],
    }),
    counts: [9, 112, 12, 36],
    percentages: [5, 66, 7, 21],
    answer: null,
  },
  quizzes: 7,
  answers: 1_064,
  winners: { round: 2, count: 38 },
  rounds: 2,
  requests: 151_000,
  requestsPerSecond: 1_013.4,
  recent: { p50Ms: 4, p99Ms: 18 },
  overall: { p50Ms: 5, p99Ms: 21 },
  chat: {
    messages: 212,
    hearts: 1_204,
    purchases: 2,
    discounts: 5,
    last: { name: 'Mia', text: 'That was close' },
  },
  checkResults: passing,
  serverBytes: { full: 90e6, now: 96e6 },
};
const revealed: ShowState = {
  ...running,
  quiz: running.quiz && { ...running.quiz, answer: 'Jupiter' },
};
const failed: ShowState = {
  ...running,
  checkResults: {
    ...passing,
    count: { checks: 9, mismatches: 1, first: 'an event says 7, it was 5' },
  },
};

const outside: ShowState = { ...running, externalViewers: { present: 1, total: 3 } };
const live: ShowState = {
  ...running,
  video: { state: 'live', ageMs: 640, sizes: ['426x240', '212x120', '142x80'] },
};
const broken: ShowState = { ...running, video: { state: 'failed', reason: 'there is no encoder' } };

const render = (show: ShowState, columns = 80, rows = 24, colors = plain) =>
  dashboard(show, { columns, rows, colors });

describe('dashboard', () => {
  test('[O-19] the dashboard shows count, intervals, quiz bars, requests per second and delay', () => {
    const lines = render(running).map((line) => line.trimEnd());
    expect(`\n${lines.join('\n')}\n`).toMatchInlineSnapshot(`
      "
        FOURBEAT  the demo, a live event                  2:31 · Ctrl-C ends the show
       Open        http://localhost:4250/docs

       ▄█  █▀█ █▀█         ▁▄▆██████████████████████████████████████████████████
        █  ▀▀█ █▀█      ▂▅▇█████████████████████████████████████████████████████
       ▀▀▀ ▀▀▀ ▀▀▀  ▁▃▆█████████████████████████████████████████████████████████
       viewers      ○ ● ○ ○  interval 7,043,882,113, four a second

       Quiz 7      Which planet is the largest?                              4 s left
         Mars    ██▍                                                         9    5 %
         Jupiter █████████████████████████████▍                            112   66 %
         Venus   ███▏                                                       12    7 %
         Saturn  █████████▌                                                 36   21 %


       Winners     round 2: 38 had all 3 right
       Chat        Mia: That was close                          ♥ 1,204  212 messages

       Service     1,013 requests/s · delay 4 ms, 99 % within 18 ms · 96 MB
       Self-check  ✓ count  ✓ bodies  ✓ intervals  ✓ answers  ✓ winners  ✓ events
       $ curl localhost:4250/api/v1/streams/0b6d8f62-3d52-4a4e-9d3e-9f1c2a7d5b11
      "
    `);
  });

  test('[O-19] the dashboard marks the right answer with the results', () => {
    const lines = render(revealed);
    expect(lines.find((line) => line.includes('Quiz 7'))).toEndWith('results');
    expect(lines.filter((line) => line.includes('✓ Jupiter')).length).toBe(1);
  });

  test('[O-18] the dashboard shows a mismatch', () => {
    const [line] = render(failed).filter((text) => text.includes('Self-check'));
    expect(line).toContain('✗ count: an event says 7, it was 5');
  });

  test('[O-18] the dashboard shows the number of viewers from outside', () => {
    const line = render(outside).find((text) => text.includes('interval'));
    expect(line).toContain('○  1 from outside · interval 7,043,882,113, four a second');
    expect(render(running).join('')).not.toContain('outside');
  });

  test('[M-45] the dashboard shows the watch page and the state of the video', () => {
    const lines = render(live).map((line) => line.trimEnd());
    expect(lines[1]).toBe(
      ' Watch       http://localhost:4250/watch/0b6d8f62-3d52-4a4e-9d3e-9f1c2a7d5b11',
    );
    expect(lines).toContain(
      ' Video       live · newest segment 0.6 s ago · 426x240, 212x120, 142x80',
    );
    // All rows fit 80 × 24, with an empty row to spare.
    expect(lines.at(-1)).toContain('$ curl');
    expect(lines).toContain('');
    expect(render(broken).join('\n')).toContain('Video       unavailable: there is no encoder');
    expect(render({ ...live, video: { state: 'starting' } }).join('\n')).toContain('starting');
  });

  test('[O-19] the dashboard fits every terminal and has the same height in every state', () => {
    const starting: ShowState = { ...start, video: { state: 'starting' } };
    const shows = fc.constantFrom(
      { show: running, first: start },
      { show: revealed, first: start },
      { show: failed, first: start },
      { show: outside, first: start },
      { show: live, first: starting },
      { show: broken, first: starting },
    );
    const sizes = fc.tuple(fc.integer({ min: 42, max: 200 }), fc.integer({ min: 2, max: 60 }));
    fc.assert(
      fc.property(shows, sizes, ({ show, first }, [columns, rows]) => {
        const lines = render(show, columns, rows);
        expect(lines.length).toBeLessThan(rows);
        expect(lines.length).toBe(render(first, columns, rows).length);
        for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThan(columns);
      }),
    );
  });

  test('[O-19] the dashboard is the same with and without colors', () => {
    const colored = render(running, 80, 24, pc.createColors(true)).join('\n');
    expect(colored).toContain('\u001b[');
    expect(Bun.stripANSI(colored)).toBe(render(running).join('\n'));
  });
});

describe('plain lines', () => {
  const quiz = running.quiz?.quiz;
  if (!quiz) throw new Error('the sample has a quiz');
  const choices = Object.fromEntries(
    quiz.order.map((choice, index) => [
      choice,
      { count: index, percentage: [0, 17, 33, 50][index] ?? 0 },
    ]),
  );

  test('[O-19] eventLines has a line for each event', () => {
    const events = [
      { type: 'quiz' as const, data: quiz },
      { type: 'quiz-results' as const, data: { ...quiz, choices, answer: 'Jupiter' } },
      { type: 'request-quiz-winners' as const, data: null },
      { type: 'quiz-winners' as const, data: { count: 5 } },
    ];
    expect(eventLines({ ...running, checkResults: NO_CHECK_RESULTS }, failed, events)).toEqual([
      '2:31  quiz 8: Which planet is the largest? (Mars, Jupiter, Venus, Saturn)',
      '2:31  results of quiz 8: Mars 0 (0 %), *Jupiter 1 (17 %), Venus 2 (33 %), Saturn 3 (50 %)',
      '2:31  winners round 3',
      '2:31  winners of round 3: 5',
      '2:31  MISMATCH in count: an event says 7, it was 5',
    ]);
    expect(eventLines(failed, failed, [])).toEqual([]);
  });

  test('[M-45] videoLines has a line for each change of the video', () => {
    expect(videoLines({ ...live, video: { state: 'starting' } }, live)).toEqual([
      '2:31  video: live · newest segment 0.6 s ago · 426x240, 212x120, 142x80',
    ]);
    expect(videoLines(live, live)).toEqual([]);
    expect(videoLines(live, broken)).toEqual(['2:31  video: unavailable: there is no encoder']);
    expect(videoLines(running, running)).toEqual([]);
  });

  test('[O-19] statusLine has the current state without control characters', () => {
    expect(statusLine(running)).toBe(
      '2:31  198 viewers · interval 7043882113 · 1,013 requests/s · delay 4 ms, 99 % within 18 ms · checks ok',
    );
    expect(statusLine(outside)).toStartWith('2:31  198 viewers, 1 from outside · interval ');
    expect(statusLine(failed)).toEndWith('checks FAILED');
    expect(statusLine(start)).toContain('interval soon');
  });

  test('[O-18] summaryLines sum up the checks', () => {
    expect(`\n${summaryLines(running).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      The show is over after 2:31.
        viewers     199 at most, of 200
        quizzes     7 asked, 1,064 answers counted, winners rounds: 2
        chat        212 messages, 1,204 hearts
        requests    151,000, 1,000 a second, 0 failed
        delay       5 ms, 99 % within 21 ms
        memory      server 90 MB with all viewers, 96 MB at the end
        self-check  count      ok: 100 counts compared with heartbeats, within 0.2 viewers
                    bodies     ok: 100 bodies compared byte by byte
                    intervals  ok: 100 intervals read, none omitted
                    answers    ok: 100 answers and results
                    winners    ok: 100 winner reports and rounds
                    events     ok: 100 events of the host
      "
    `);
    expect(summaryLines(outside)[1]).toBe('  viewers     199 at most, of 200, and 3 from outside');
    const lines = summaryLines(failed);
    expect(lines.find((line) => line.includes('self-check'))).toContain('FAILED 1 times');
    expect(lines.at(-1)).toBe('  MISMATCH in count: an event says 7, it was 5');
  });
});
