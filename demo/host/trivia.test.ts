import { expect, test } from 'bun:test';
import { TRIVIA, triviaOf } from '../../crowd/trivia.ts';
import { newQuizSchema } from '../../protocol/studio.ts';

test('[Q-3] every trivia question is a valid quiz', () => {
  expect(TRIVIA.length).toBeGreaterThanOrEqual(20);
  for (const { question, choices, answer } of TRIVIA) {
    expect(newQuizSchema.safeParse({ question, choices, answer, duration: 10_000 }).error).toBe(
      undefined,
    );
    expect(triviaOf(question)?.answer).toBe(answer);
  }
});
