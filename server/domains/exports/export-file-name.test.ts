import { expect, test } from 'bun:test';
import { attachmentHeader } from './export-file-name.ts';

const show = (title: string) => ({ title, started: Date.UTC(2026, 10, 23, 19), created: 0 });

test.each([
  ['Quiz night', 'filename="quiz-night-2026-11-23-answers.csv"'],
  ['  "Quiz"; night/../\\ ', 'filename="quiz-night-2026-11-23-answers.csv"'],
  ['?!', 'filename="2026-11-23-answers.csv"'],
  [
    'Café Ü',
    `filename="cafe-u-2026-11-23-answers.csv"; filename*=UTF-8''caf%C3%A9-%C3%BC-2026-11-23-answers.csv`,
  ],
  ['夜', `filename="2026-11-23-answers.csv"; filename*=UTF-8''%E5%A4%9C-2026-11-23-answers.csv`],
])('[P-27] the file of a show %p is named by its title and date', (title, name) => {
  expect(attachmentHeader(show(title), 'answers', 'csv')).toBe(`attachment; ${name}`);
});

test('[P-27] a show that has not started has the date of its creation', () => {
  const created = Date.UTC(2026, 10, 2);
  expect(attachmentHeader({ title: 'a', started: null, created }, 'feed', 'ndjson')).toBe(
    'attachment; filename="a-2026-11-02-feed.ndjson"',
  );
});
