import { chatPostSchema } from '../../protocol/feed.ts';
import type { viewerApi } from '../../protocol/viewer-api.ts';
import type { Clock } from '../clock.ts';
import { readBody } from '../http/body.ts';
import type { Credentials } from '../http/credentials.ts';
import type { Rate } from '../http/rate.ts';
import type { Handlers } from '../http/route.ts';
import type { ChatSource } from './chat.ts';

export interface ChatRoutes {
  readonly chat: Pick<ChatSource, 'say' | 'hearts'>;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Posts of each viewer. */
  readonly rate: Rate;
  readonly newId: () => string;
}

/** What viewers say and the hearts they send (SPEC C). */
export function chatHandlers({
  chat,
  credentials,
  clock,
  rate,
  newId,
}: ChatRoutes): Handlers<Pick<typeof viewerApi, 'postChat'>> {
  return {
    postChat: async (request, route) => {
      const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
      await rate.take(`${viewer.streamId}:${viewer.seat}`);
      const post = await readBody(request, chatPostSchema, route.operation.bodyBytes);
      if (post.kind === 'heart') chat.hearts(viewer.streamId, post.count);
      else {
        chat.say(viewer.streamId, post.kind, {
          id: newId(),
          viewer: viewer.id,
          name: post.name ?? '',
          text: post.text,
          at: clock.nowMs(),
        });
      }
      return route.noContent();
    },
  };
}
