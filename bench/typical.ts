import { INTERVAL_MS, intervalAt, intervalStartMs } from '../protocol/interval.ts';
import { WrongAnswer } from './run/bench.ts';
import type { Fourbeat } from './run/fourbeat.ts';

/** An interval in which what is usual happened: some lines of chat, a heart, and the count. */
export interface TypicalInterval {
  readonly interval: number;
  /** Some 600 bytes, as many each time. */
  readonly body: string;
}

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
// The count is told in every fourth interval.
const WITH_COUNT = 3;
const TRIES = 5;
// The posts must be in one interval.
const MARGIN_MS = 20;

/** Has it happen, by real posts of these viewers, and reads what was sealed. @throws WrongAnswer */
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
    if (!response.ok) throw new WrongAnswer(`${method} ${path} is ${response.status}`);
    return response.text();
  };
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const interval = nextWithCount(intervalAt(Date.now()) + 1);
    await Bun.sleep(intervalStartMs(interval) + MARGIN_MS - Date.now());
    for (const post of POSTS) await call('POST', `events-streams/${streamId}/chats`, post);
    await call('POST', `view-counts/${streamId}`);
    const body = await call('GET', `events-streams/${streamId}?interval=${interval}`);
    if (isTypical(body, interval)) return { interval, body };
  }
  throw new WrongAnswer(`${TRIES} times what was posted was in no interval together`);
}

function nextWithCount(from: number): number {
  const perCount = 1_000 / INTERVAL_MS;
  return from + ((((WITH_COUNT - from) % perCount) + perCount) % perCount);
}

function isTypical(body: string, interval: number): boolean {
  const { interval: told, events } = JSON.parse(body);
  if (told !== interval) throw new WrongAnswer(`asked for ${interval}, told ${told}`);
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
