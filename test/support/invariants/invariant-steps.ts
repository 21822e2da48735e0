import { expect } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QuizResults } from '../../../protocol/quizzes.ts';
import { eventsFrom, ofType } from '../conformance/feed-viewer.ts';
import {
  type Harness,
  type HarnessOptions,
  type PublishedQuiz,
  startService,
  type TestViewer,
} from '../harness/harness.ts';

const running: Harness[] = [];
const directories: string[] = [];

/** Stops all services of a test and removes its directories; for `afterEach`. */
export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((harness) => harness.close()));
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A service that ends with the test. */
export async function start(options: HarnessOptions = {}): Promise<Harness> {
  const harness = await startService(options);
  running.push(harness);
  return harness;
}

/** Stops a service early, so that another can take over its directory. */
export async function stop(harness: Harness): Promise<void> {
  running.splice(running.indexOf(harness), 1);
  await harness.close();
}

/** A data directory that outlives its service and is removed after the test. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-invariants-'));
  directories.push(directory);
  return directory;
}

/** The body of a served interval. */
export async function readInterval(viewer: TestViewer, interval: number): Promise<string> {
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
  const response = await viewer.get(path);
  expect(response.status).toBe(200);
  return response.text();
}

/** Posts a winner report of a viewer. */
export const claimWin = (viewer: TestViewer) =>
  viewer.post(`/api/v1/quizzes/${viewer.streamId}/record-winner`);
/** Sends a custom event of the producer that carries a number. */
export const sendEvent = (harness: Harness, streamId: string, number: number) =>
  harness.studio('POST', `/streams/${streamId}/events`, { type: 'tick', data: { number } });
/** Requests a winners round as the producer. */
export const requestWinners = (harness: Harness, streamId: string) =>
  harness.studio('POST', `/streams/${streamId}/request-winners`);

/** Advances until the close of the quiz is sealed. */
export const closeQuiz = (harness: Harness, quiz: PublishedQuiz) =>
  harness.advance(quiz.closeInterval + 1 - harness.interval());

/** The counts in the one `quiz-results` event since `from`. */
export async function resultsOf(harness: Harness, viewer: TestViewer, from: number) {
  const results = ofType<QuizResults>(await eventsFrom(harness, viewer, from), 'quiz-results');
  expect(results).toHaveLength(1);
  return results[0]?.data.choices ?? {};
}
