import type { Chats } from '../../../protocol/feed.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';

/** A quiz without answers. */
export function sampleQuiz(fields: Partial<Quiz> = {}): Quiz {
  const { order = ['Mars', 'Jupiter'] } = fields;
  return {
    id: 'quiz',
    streamId: 'stream',
    created: 0,
    duration: 10_000,
    closeInterval: 40,
    question: 'Which planet is the largest?',
    choices: Object.fromEntries(order.map((choice) => [choice, { count: 0, percentage: 0 }])),
    order,
    ...fields,
  };
}

/** The data of a `chats` event, empty but for these fields. */
export function chatsWith(fields: Partial<Chats>): Chats {
  const arrays = { messages: [], questions: [], greetings: [], cheers: [], purchases: [] };
  return { ...arrays, hearts: 0, discounts: 0, ...fields };
}
