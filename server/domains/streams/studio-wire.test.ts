import { describe, expect, test } from 'bun:test';
import { studioQuizSchema, studioStreamSchema } from '../../../protocol/studio.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { StreamRow } from './streams-sql.ts';
import { studioQuizOf, studioStreamOf } from './studio-wire.ts';

const STREAM: StreamRow = {
  id: '11111111-2222-4333-8444-555555555555',
  producer: '99999999-2222-4333-8444-555555555555',
  title: 'Quiz night',
  dashUrl: null,
  hlsUrl: 'https://cdn.example/live.m3u8',
  unlisted: true,
  latencyAllowanceMs: 1500,
  recording: true,
  status: 'STREAMING',
  created: 1,
  started: 2,
  ended: null,
  endsAt: 4,
  rundownRevision: 5,
  rehearsalOf: null,
};

const QUIZ: QuizRow = {
  id: '22222222-2222-4333-8444-555555555555',
  number: 7,
  position: 7,
  streamId: STREAM.id,
  state: 'revealed',
  question: 'When?',
  choices: ['later', '1984', 'never'],
  answer: 1,
  durationMs: 10_000,
  reveal: 'manual',
  created: 1_000,
  closeInterval: 44,
  game: 3,
  counts: [1, 1, 1],
};

describe('studioStreamOf', () => {
  test('[P-9] has exactly the members of a StudioStream', () => {
    expect(studioStreamOf(STREAM, 'http://localhost:4250')).toEqual({
      id: STREAM.id,
      producer: STREAM.producer,
      dash_url: `http://localhost:4250/media/${STREAM.id}/manifest.mpd`,
      hls_url: 'https://cdn.example/live.m3u8',
      status: 'STREAMING',
      title: 'Quiz night',
      unlisted: true,
      latencyAllowance: 1500,
      recording: true,
      created: 1,
      started: 2,
      ended: null,
      endsAt: 4,
      rehearsalOf: null,
    });
    expect(studioStreamSchema.strict().safeParse(studioStreamOf(STREAM, 'http://h')).success).toBe(
      true,
    );
  });
});

describe('studioQuizOf', () => {
  test('[P-16] has exactly the members of a StudioQuiz', () => {
    const quiz = studioQuizOf(QUIZ);
    expect(Object.keys(quiz)).toEqual(Object.keys(studioQuizSchema.shape));
    expect(studioQuizSchema.strict().safeParse(quiz).success).toBe(true);
    expect(quiz).toMatchObject({
      choices: ['later', '1984', 'never'],
      answer: '1984',
      duration: 10_000,
      created: 1_000,
      closeInterval: 44,
    });
  });

  test('[P-17] counts each choice, with percentages that add up to 100', () => {
    expect(studioQuizOf(QUIZ).counts).toEqual({
      later: { count: 1, percentage: 34 },
      '1984': { count: 1, percentage: 33 },
      never: { count: 1, percentage: 33 },
    });
  });

  test('[P-16] has null for what a draft does not know', () => {
    const draft = { ...QUIZ, state: 'draft', created: null, closeInterval: null, counts: null };
    expect(studioQuizOf(draft as QuizRow)).toMatchObject({
      state: 'draft',
      created: null,
      closeInterval: null,
      counts: null,
    });
  });

  test('does not invent an answer for a row whose answer is no choice', () => {
    expect(() => studioQuizOf({ ...QUIZ, answer: 3 })).toThrow(RangeError);
  });
});
