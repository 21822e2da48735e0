import { INTERVAL_MS, intervalAt, intervalStartMs } from '../protocol/interval.ts';
import { IncorrectResponse } from './run/bench.ts';
import type { Fourbeat } from './run/fourbeat.ts';

/** An interval with typical events: chat messages, hearts and the view count. */
export interface TypicalInterval {
  readonly interval: number;
  /** JSON of about 575 bytes, the same number each time. */
  readonly body: string;
}

/** The chat posts of a typical interval. */
export const POSTS = [
  {
    kind: 'message',
    name: 'Mina',
    text: 'It is the second one, as it was in the round before. Who else?',
  },
  {
    kind: 'question',
    name: 'Jo',
    text: 'When is the next round, and may we play for somebody else?',
  },
  { kind: 'heart', count: 5 },
];
// Every fourth interval contains the view count.
const COUNT_PHASE = 3;
const ATTEMPTS = 5;
// Offset from the start of the interval, so that all posts are in it.
const MARGIN_MS = 20;

/** Creates a typical interval by posts and a heartbeat of a viewer, and reads it. @throws IncorrectResponse */
export async function makeTypicalInterval(
  { url, streamId }: Pick<Fourbeat, 'url' | 'streamId'>,
  [token = '']: readonly string[],
): Promise<TypicalInterval> {
  const call = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new IncorrectResponse(`${method} ${path} is ${response.status}`);
    return response.text();
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const interval = nextIntervalWithCount(intervalAt(Date.now()) + 1);
    await Bun.sleep(intervalStartMs(interval) + MARGIN_MS - Date.now());
    for (const post of POSTS) await call('POST', `events-streams/${streamId}/chats`, post);
    await call('POST', `view-counts/${streamId}`);
    const body = await call('GET', `events-streams/${streamId}?interval=${interval}`);
    if (isTypical(body, interval)) return { interval, body };
  }
  throw new IncorrectResponse(`the posts were in different intervals, ${ATTEMPTS} times`);
}

function nextIntervalWithCount(from: number): number {
  const perCount = 1_000 / INTERVAL_MS;
  return from + ((((COUNT_PHASE - from) % perCount) + perCount) % perCount);
}

function isTypical(body: string, interval: number): boolean {
  const { interval: received, events } = JSON.parse(body);
  if (received !== interval) throw new IncorrectResponse(`requested ${interval}, got ${received}`);
  const [count, chats, ...others] = events as { type: string; data: Record<string, unknown> }[];
  return (
    others.length === 0 &&
    count?.type === 'view-count' &&
    count.data.value === 1 &&
    chats?.type === 'chats' &&
    (chats.data.messages as unknown[]).length === 1 &&
    (chats.data.questions as unknown[]).length === 1 &&
    chats.data.hearts === 5
  );
}
