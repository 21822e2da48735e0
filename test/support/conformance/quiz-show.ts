import type { Quiz } from '../../../protocol/quizzes.ts';
import {
  expectJson,
  type Harness,
  type PublishedQuiz,
  QUIZ,
  type TestViewer,
} from '../harness/harness.ts';

/** A quiz as its producer reads it. */
export interface ReadQuiz extends PublishedQuiz {
  readonly state: string;
  readonly counts: Quiz['choices'] | null;
}

/** An event of the feed, with the interval it is in. */
export interface FedEvent<T = unknown> {
  readonly interval: number;
  readonly type: string;
  readonly data: T;
}

/** A stream with viewers and a quiz that is open. */
export async function openShow(
  harness: Harness,
  viewerCount: number,
  fields: Record<string, unknown> = {},
) {
  const stream = await harness.createStream();
  const viewers = Array.from({ length: viewerCount }, () => harness.viewer(stream));
  const [viewer, ...others] = (await Promise.all(viewers)) as [TestViewer, ...TestViewer[]];
  return { stream, viewer, others, quiz: await harness.publishQuiz(stream, fields) };
}

/** A viewer's answer; right unless told otherwise, with members changed or added. */
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

/** Every event of the viewer's stream in the sealed intervals from one on. */
export async function eventsFrom(
  harness: Harness,
  viewer: TestViewer,
  from: number,
): Promise<FedEvent[]> {
  const events: FedEvent[] = [];
  for (let interval = from; interval < harness.interval(); interval++) {
    for (const event of await harness.events(viewer, interval)) events.push({ interval, ...event });
  }
  return events;
}

export function ofType<T>(events: readonly FedEvent[], type: string): FedEvent<T>[] {
  return events.filter((event) => event.type === type) as FedEvent<T>[];
}

/** Moves on until the quiz is closed and what follows is sealed; the events since. */
export async function playOut(
  harness: Harness,
  viewer: TestViewer,
  quiz: PublishedQuiz,
): Promise<FedEvent[]> {
  const from = harness.interval();
  await harness.advance(Math.max(1, quiz.closeInterval + 2 - from));
  return eventsFrom(harness, viewer, from);
}
