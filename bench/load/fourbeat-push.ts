import type { Fourbeat } from '../run/fourbeat.ts';
import { POSTS } from '../typical.ts';
import type { PushTask } from './push-load.ts';

/** The push task for event streams of Fourbeat, with chat messages posted in each interval. */
export function fourbeatPush(
  { url, streamId }: Pick<Fourbeat, 'url' | 'streamId'>,
  tokens: readonly string[],
): Omit<PushTask, 'warmUpIntervals' | 'measuredIntervals'> {
  const { hostname, port } = new URL(url);
  const feed = `/api/v1/events-streams/${streamId}`;
  const headers = { Authorization: `Bearer ${tokens[0]}`, 'Content-Type': 'application/json' };
  return {
    protocol: 'event-stream',
    hostname,
    port: Number(port),
    path: `${feed}?interval=INTERVAL`,
    tokens,
    publisher: {
      when: 'within',
      requests: POSTS.map((post) => ({
        url: `${url}${feed}/chats`,
        headers,
        body: JSON.stringify(post),
      })),
    },
  };
}
