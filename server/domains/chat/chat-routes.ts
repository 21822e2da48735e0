import { chatPostSchema } from '../../../protocol/feed.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Viewer } from '../../auth/viewer-tokens/viewer-tokens.ts';
import { readBody } from '../../http/body.ts';
import { Problem } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RateLimiter } from '../../platform/rate-limit/rate-limiter.ts';
import type { ModerationCache } from '../moderation/moderation-cache.ts';
import type { ChatSource } from './chat.ts';
import type { SlowMode } from './slow-mode.ts';

export interface ChatRoutes {
  readonly chat: Pick<ChatSource, 'say' | 'hearts'>;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Posts of each viewer. */
  readonly rate: RateLimiter;
  readonly newId: () => string;
  /** How the chats go that somebody moderates, and who may not write. */
  readonly moderation: Pick<ModerationCache, 'chatMode' | 'mutedUntil'>;
  /** Turns in those that are slowed. */
  readonly turns: SlowMode;
}

/** What viewers say and the hearts they send (SPEC C). */
export function chatHandlers({
  chat,
  credentials,
  clock,
  rate,
  newId,
  moderation,
  turns,
}: ChatRoutes): Handlers<Pick<typeof viewerApi, 'postChat'>> {
  /** @throws Problem 409 */
  function requireOpen(viewer: Viewer): void {
    const until = moderation.mutedUntil(viewer);
    if (until !== false) {
      throw new Problem(409, 'You are muted in this chat.', {}, { muted: true, until });
    }
    if (moderation.chatMode(viewer.streamId).paused) {
      throw new Problem(409, 'The chat is paused.', {}, { paused: true });
    }
  }

  /** @throws Problem 429 */
  async function takeTurn({ streamId, seat }: Viewer, nowMs: number): Promise<void> {
    const { slowModeMs: everyMs } = moderation.chatMode(streamId);
    if (everyMs === 0) return;
    const waitMs = await turns.take({ streamId, seat, everyMs, nowMs });
    if (waitMs === 0) return;
    const seconds = Math.ceil(waitMs / 1000);
    const detail = `The chat is slowed to a line each ${everyMs / 1000} s; write again in ${seconds} s.`;
    throw new Problem(429, detail, { 'Retry-After': String(seconds) });
  }

  return {
    postChat: async (request, route) => {
      const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
      rate.take(`${viewer.streamId}:${viewer.seat}`);
      const post = await readBody(request, chatPostSchema, route.operation.bodyBytes);
      credentials.requireNotBanned(viewer);
      requireOpen(viewer);
      if (post.kind === 'heart') chat.hearts(viewer.streamId, post.count);
      else {
        const at = clock.nowMs();
        await takeTurn(viewer, at);
        chat.say(viewer.streamId, post.kind, {
          id: newId(),
          viewer: viewer.id,
          name: post.name ?? '',
          text: post.text,
          at,
        });
      }
      return route.noContent();
    },
  };
}
