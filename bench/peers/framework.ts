import { IncorrectResponse } from '../run/bench.ts';
import type { Peer } from './peer.ts';
import { startPeer } from './program.ts';

/** A typical service with a framework; it has the measured viewer routes. */
interface FrameworkPeer extends Peer {
  /** Issues tokens to viewers of a stream. @throws IncorrectResponse */
  tokens(streamId: string, count: number): Promise<string[]>;
  /** Stores the body of an interval. @throws IncorrectResponse */
  publish(streamId: string, interval: number, body: string): Promise<void>;
  /**
   * Opens quizzes, if it has a database.
   * @param quiz closes at `closesMs`, in Unix ms
   * @returns their ids
   * @throws IncorrectResponse
   */
  openQuizzes(
    streamId: string,
    quiz: { choices: readonly string[]; closesMs: number },
    count: number,
  ): Promise<string[]>;
  /** Compares the counts with the acknowledged answers. @throws IncorrectResponse when they differ */
  checkCounts(quizzes: readonly string[], acknowledged: readonly number[]): Promise<void>;
}

/** The frameworks, by their names in tables. */
export const FRAMEWORKS = {
  'Fastify, @fastify/jwt': ['node', 'fastify.mjs'],
  'Hono on Bun, hono/jwt': ['bun', 'hono.mjs'],
} as const;

export async function startFramework(
  name: keyof typeof FRAMEWORKS,
  env: Readonly<Record<string, string>> = {},
): Promise<FrameworkPeer> {
  const [runtime, file] = FRAMEWORKS[name];
  const peer = await startPeer(runtime, file, env);
  const send = async (method: string, path: string, body: string): Promise<Response> => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${peer.url}${path}`, { method, headers, body });
    if (!answer.ok) throw new IncorrectResponse(`${name}: ${method} ${path} is ${answer.status}`);
    return answer;
  };
  const tokenOf = async (stream_id: string, viewer: number): Promise<string> => {
    const body = JSON.stringify({ stream_id, unique_user_identifier: `viewer ${viewer}` });
    const answer = await send('POST', '/api/v1/token', body);
    return ((await answer.json()) as { token: string }).token;
  };
  return {
    ...peer,
    tokens: (streamId, count) =>
      Promise.all(Array.from({ length: count }, (_, viewer) => tokenOf(streamId, viewer))),
    publish: async (streamId, interval, body) => {
      await send('PUT', `/intervals/${streamId}/${interval}`, body);
    },
    openQuizzes: async (streamId, quiz, count) => {
      const ids: string[] = [];
      while (ids.length < count) {
        const answer = await send('POST', `/quizzes/${streamId}`, JSON.stringify(quiz));
        ids.push(((await answer.json()) as { id: string }).id);
      }
      return ids;
    },
    checkCounts: async (quizzes, acknowledged) => {
      for (const [at, id] of quizzes.entries()) {
        const answer = await fetch(`${peer.url}/quizzes/${id}/count`);
        const { count } = (await answer.json()) as { count: number };
        if (count === (acknowledged[at] ?? 0)) continue;
        throw new IncorrectResponse(
          `${name}: quiz ${at} has ${count} answers of ${acknowledged[at]}`,
        );
      }
    },
  };
}
