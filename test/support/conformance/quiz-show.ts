import type { Quiz } from '../../../protocol/quizzes.ts';
import {
  expectJson,
  type Harness,
  type PublishedQuiz,
  QUIZ,
  type TestViewer,
} from '../harness/harness.ts';
import { eventsFrom, type FeedEventOfInterval, newAudience } from './feed-viewer.ts';

/** A quiz of the studio API. */
export interface ReadQuiz extends PublishedQuiz {
  readonly state: string;
  readonly counts: Quiz['choices'] | null;
}

/** Creates a stream with viewers and an open quiz. */
export async function openShow(
  harness: Harness,
  viewerCount: number,
  fields: Record<string, unknown> = {},
) {
  const { stream, viewers } = await newAudience(harness, viewerCount);
  const [viewer, ...others] = viewers;
  return { stream, viewer, others, quiz: await harness.publishQuiz(stream, fields) };
}

/** Sends an answer of a viewer, by default the right one. @param fields changed or added members */
export function answer(
  viewer: TestViewer,
  quiz: Pick<PublishedQuiz, 'id' | 'closeInterval'>,
  choice: unknown = QUIZ.answer,
  fields: Record<string, unknown> = {},
): Promise<Response> {
  return viewer.post(`/api/v1/quizzes/${quiz.id}/answer`, {
    streamId: viewer.streamId,
    choice,
    closeInterval: quiz.closeInterval,
    ...fields,
  });
}

export async function readQuiz(harness: Harness, id: string): Promise<ReadQuiz> {
  return expectJson(await harness.studio('GET', `/quizzes/${id}`), 200);
}

/** Advances until the results of the quiz are sealed. @returns the events of these intervals */
export async function playToResults(
  harness: Harness,
  viewer: TestViewer,
  quiz: PublishedQuiz,
): Promise<FeedEventOfInterval[]> {
  const from = harness.interval();
  await harness.advance(Math.max(1, quiz.closeInterval + 2 - from));
  return eventsFrom(harness, viewer, from);
}
