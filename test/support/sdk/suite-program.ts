import { type NewQuiz, runSuite, type SuiteFixture, type SuiteResult } from './suite.ts';

/**
 * Entry of the suite's bundle, for runtimes that cannot load its sources.
 * @param baseUrl a `*` is replaced by the number of the case: browsers open at most six connections
 *   to a host, and an event stream occupies one
 */
export function runOnService(
  sdk: Pick<SuiteFixture, 'join' | 'pictureOf'>,
  baseUrl: string,
  serviceToken: string,
): Promise<SuiteResult[]> {
  let cases = 0;
  return runSuite(() => {
    cases += 1;
    return studioFixture(sdk, baseUrl.replace('*', String(cases)), serviceToken);
  });
}

/** A stream of a real service, created by its studio API. Runs in every runtime of the suite. */
async function studioFixture(
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
