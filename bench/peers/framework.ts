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
   * Opens quizzes; Fastify only, which has a database.
   * @param quiz closes at `closesMs`, in Unix ms
   * @returns their ids
   * @throws IncorrectResponse
   */
  openQuizzes(
    streamId: string,
    quiz: { choices: readonly string[]; closesMs: number },
    count: number,
  ): Promise<string[]>;
  /** Compares the counts with the acknowledged answers; Fastify only. @throws IncorrectResponse when they differ */
  checkCounts(quizzes: readonly string[], acknowledged: readonly number[]): Promise<void>;
}

/** The runtime and the program of each framework, by its name in tables. */
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
    const response = await fetch(`${peer.url}${path}`, { method, headers, body });
    if (!response.ok)
      throw new IncorrectResponse(`${name}: ${method} ${path} is ${response.status}`);
    return response;
  };
  const tokenOf = async (stream_id: string, viewer: number): Promise<string> => {
    const body = JSON.stringify({ stream_id, unique_user_identifier: `viewer ${viewer}` });
    const response = await send('POST', '/api/v1/token', body);
    return ((await response.json()) as { token: string }).token;
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
        const response = await send('POST', `/quizzes/${streamId}`, JSON.stringify(quiz));
        ids.push(((await response.json()) as { id: string }).id);
      }
      return ids;
    },
    checkCounts: async (quizzes, acknowledged) => {
      for (const [index, id] of quizzes.entries()) {
        const response = await fetch(`${peer.url}/quizzes/${id}/count`);
        const { count } = (await response.json()) as { count: number };
        const expected = acknowledged[index] ?? 0;
        if (count === expected) continue;
        throw new IncorrectResponse(`${name}: quiz ${index} has ${count} answers of ${expected}`);
      }
    },
  };
}
