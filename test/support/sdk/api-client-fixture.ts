import { expect } from 'bun:test';
import { ApiClient } from '../../../sdk/api-client.ts';
import type { FourbeatError } from '../../../sdk/errors.ts';
import type { Quiz } from '../../../sdk/types.ts';
import { FakeMachine } from './fake-environment.ts';

export const URLS = {
  base: 'https://base',
  auth: 'https://auth',
  viewCounts: 'https://counts',
  polls: 'https://polls',
  events: 'https://events',
};
export const QUIZ: Quiz = {
  id: 'quiz/1',
  streamId: 'stream 1',
  created: 0,
  duration: 10_000,
  closeInterval: 77,
  question: '?',
  choices: {},
  order: ['Mars', 'Venus'],
};

export type Responder = (request: Request) => Response | Promise<Response>;

/** An API client whose tokens are `token 1`, `token 2`, …: the next one after a rejection. */
export function createApiClientFixture(respond: Responder) {
  const requests: Request[] = [];
  const rejectedTokens: string[] = [];
  const machine = new FakeMachine({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      requests.push(request);
      const aborted = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        if (request.signal.aborted) reject(request.signal.reason);
      });
      return Promise.race([aborted, respond(request)]);
    },
  });
  let tokensIssued = 0;
  const token = {
    get: async () => {
      tokensIssued = rejectedTokens.length + 1;
      return `token ${tokensIssued}`;
    },
    reject: (token: string) => {
      rejectedTokens.push(token);
    },
  };
  const api = new ApiClient(machine.environment, URLS, 'stream 1', token);
  return { machine, api, requests, rejectedTokens, tokensIssued: () => tokensIssued };
}

export const respondNoContent: Responder = () => new Response(null, { status: 204 });
export const respondNever: Responder = () => new Promise(() => {});
export const respondWith =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Responder =>
  () =>
    Response.json(body, { status, headers });

export function rejectionOf(promise: Promise<unknown>): Promise<FourbeatError> {
  return promise.then(
    () => expect.unreachable('the promise should have been rejected'),
    (error) => error,
  );
}

export async function describeRequest(request: Request | undefined) {
  if (!request) return null;
  const { method, url, headers } = request;
  const text = await request.text();
  return {
    line: `${method} ${url}`,
    token: headers.get('authorization'),
    body: text === '' ? null : JSON.parse(text),
  };
}
