import { expect } from 'bun:test';
import { Calls } from '../../../sdk/calls.ts';
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

export type Answer = (request: Request) => Response | Promise<Response>;

/** Calls of a viewer whose tokens are `token 1`, `token 2`, …: a new one when one is refused. */
export function begin(answer: Answer) {
  const requests: Request[] = [];
  const refused: string[] = [];
  const machine = new FakeMachine({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      requests.push(request);
      const ended = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        if (request.signal.aborted) reject(request.signal.reason);
      });
      return Promise.race([ended, answer(request)]);
    },
  });
  let given = 0;
  const token = {
    get: async () => {
      given = refused.length + 1;
      return `token ${given}`;
    },
    refuse: (token: string) => {
      refused.push(token);
    },
  };
  const calls = new Calls(machine.environment, URLS, 'stream 1', token);
  return { machine, calls, requests, refused, given: () => given };
}

export const done: Answer = () => new Response(null, { status: 204 });
export const never: Answer = () => new Promise(() => {});
export const says =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json(body, { status, headers });

export function troubleOf(promise: Promise<unknown>): Promise<FourbeatError> {
  return promise.then(
    () => expect.unreachable('it should have failed'),
    (trouble) => trouble,
  );
}

export async function sent(request: Request | undefined) {
  if (!request) return null;
  const { method, url, headers } = request;
  const text = await request.text();
  return {
    line: `${method} ${url}`,
    token: headers.get('authorization'),
    body: text === '' ? null : JSON.parse(text),
  };
}
