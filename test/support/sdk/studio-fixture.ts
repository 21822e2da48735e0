import type { NewQuiz, SuiteFixture } from './suite.ts';

/** A stream of a real service, created by its studio API. Runs in every runtime of the suite. */
export async function studioFixture(
  sdk: Pick<SuiteFixture, 'join' | 'pictureOf'>,
  baseUrl: string,
  serviceToken: string,
): Promise<SuiteFixture> {
  const post = async (path: string, body?: unknown): Promise<{ id: string }> => {
    const response = await fetch(`${baseUrl}/studio/v1${path}`, {
      method: 'POST',
      headers: { Authorization: `Token ${serviceToken}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path} is ${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const { id: streamId } = await post('/streams', { title: 'A show' });
  return {
    ...sdk,
    options: { baseUrl, streamId, viewerId: '' },
    openQuiz: async ({ durationMs: duration, ...quiz }: NewQuiz) => {
      const body = { question: 'A question?', ...quiz, duration };
      const { id } = await post(`/streams/${streamId}/quizzes`, body);
      await post(`/quizzes/${id}/publish`);
    },
    publish: async (type, data) => {
      await post(`/streams/${streamId}/events`, { type, data });
    },
    requestWinners: async () => {
      await post(`/streams/${streamId}/request-winners`);
    },
    end: async () => {
      await post(`/streams/${streamId}/end`);
    },
  };
}
