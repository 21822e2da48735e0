import type { TestViewer } from '../harness/harness.ts';

/** A call of every route that needs a viewer token of the stream. */
export const VIEWER_ROUTES: readonly (readonly [
  string,
  (viewer: TestViewer) => Promise<Response>,
])[] = [
  ['POST view-counts', (v) => v.post(`/api/v1/view-counts/${v.streamId}`)],
  ['GET view-counts', (v) => v.get(`/api/v1/view-counts/${v.streamId}`)],
  ['POST record-winner', (v) => v.post(`/api/v1/quizzes/${v.streamId}/record-winner`)],
  [
    'POST answer',
    (v) =>
      v.post(`/api/v1/quizzes/${crypto.randomUUID()}/answer`, {
        streamId: v.streamId,
        choice: 'a',
        closeInterval: 1,
      }),
  ],
  ['GET feed', (v) => v.get(`/api/v1/events-streams/${v.streamId}?interval=1`)],
  ['POST chats', (v) => v.post(`/api/v1/events-streams/${v.streamId}/chats`, { kind: 'heart' })],
];

/** Requests a viewer token. @param authorization the Authorization header, if any */
export function requestToken(
  url: string,
  body: unknown,
  authorization?: string,
): Promise<Response> {
  return fetch(`${url}/api/v1/token`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(authorization ? { Authorization: authorization } : {}),
    },
    body: JSON.stringify(body),
  });
}
