import { describe, expect, test } from 'bun:test';
import type { CrowdReport } from '../../crowd/messages.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import { sampleQuiz } from '../../test/support/crowd/events.ts';
import { NO_FIGURES, newShow, withMemory, withReport } from './show.ts';

const quiz = sampleQuiz();
const choices = { Mars: { count: 1, percentage: 33 }, Jupiter: { count: 2, percentage: 67 } };
const results: FeedEvent = { type: 'quiz-results', data: { ...quiz, choices, answer: 'Jupiter' } };

const reportOf = (report: Partial<CrowdReport>): CrowdReport => ({
  ...NO_FIGURES,
  ...{ kind: 'report', isLast: false, interval: 1, present: 0 },
  ...{ answers: {}, events: [], counts: [], ...report },
});
const show = newShow({
  origin: 'http://localhost:4250',
  streamId: 'stream',
  viewers: 200,
  video: null,
});
const after = (...reports: Partial<CrowdReport>[]) =>
  reports.reduce(
    (now, report, index) => withReport(now, reportOf(report), (index + 1) * 250),
    show,
  );

describe('the state of the show', () => {
  test('[Q-22] the state of the show has the acknowledged answers of an open quiz', () => {
    const open = after({ events: [{ type: 'quiz', data: quiz }] }, { answers: { quiz: [3, 1] } });
    expect(open.quiz).toMatchObject({ number: 1, counts: [3, 1], percentages: [75, 25] });
    expect(open.quiz?.answer).toBeNull();
  });

  test('[Q-20] the state of the show has the counts of the service once there are results', () => {
    const shown = after(
      { events: [{ type: 'quiz', data: quiz }] },
      { events: [results], answers: {} },
      { answers: { quiz: [9, 9] } },
    );
    expect(shown.quiz).toMatchObject({ counts: [1, 2], percentages: [33, 67], answer: 'Jupiter' });
    expect([shown.quizzes, shown.answers]).toEqual([1, 3]);
  });

  test('[W-5] the state of the show has a winners round without a count, then with it', () => {
    const requested: FeedEvent = { type: 'request-quiz-winners', data: null };
    const counted: FeedEvent = { type: 'quiz-winners', data: { count: 7 } };
    expect(after({ events: [requested] }).winners).toEqual({ round: 1, count: null });
    expect(after({ events: [requested] }, { events: [counted] }).winners?.count).toBe(7);
    expect(after({ events: [requested, counted] }, { events: [requested] }).rounds).toBe(2);
  });

  test('the state of the show has the counts of a minute and the peak', () => {
    const reports = Array.from({ length: 100 }, (_, second) => ({ counts: [1_000 - second] }));
    const long = after(...reports);
    expect(long.history.length).toBe(60);
    expect([long.history[0], long.history.at(-1), long.peak]).toEqual([960, 901, 1_000]);
  });

  test('the state of the show has the requests per second over two seconds', () => {
    const reports = Array.from({ length: 40 }, (_, index) => ({ requests: index * index }));
    expect(after(...reports).requestsPerSecond).toBe((39 * 39 - 31 * 31) / 2);
    expect(after(...reports).samples.length).toBe(9);
  });

  test('the state of the show has the memory of the server once all viewers had joined', () => {
    const early = withMemory(after({ arrived: 10 }), 50);
    expect(early.serverBytes).toEqual({ full: null, now: 50 });
    const full = withMemory({ ...early, arrived: 200 }, 70);
    expect(withMemory(full, 90).serverBytes).toEqual({ full: 70, now: 90 });
  });
});
