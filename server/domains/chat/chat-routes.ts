import { chatPostSchema } from '../../../protocol/feed.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import { clientKey } from '../../http/address.ts';
import { readBody } from '../../http/body.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError, RateLimited } from '../../platform/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import type { ModerationCache } from '../moderation/moderation-cache.ts';
import type { ChatPosts } from './chat-source.ts';
import type { SlowMode } from './slow-mode.ts';
import type { ViewerNames } from './viewer-names.ts';

export interface ChatDeps {
  readonly chat: ChatPosts;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Limits the posts of each viewer. */
  readonly rate: RateLimiter;
  readonly newId: () => string;
  readonly moderation: Pick<ModerationCache, 'chatMode' | 'mutedUntil'>;
  /** Whether the chat of a stream is closed for good (S-21). */
  readonly isArchived: (streamId: string) => boolean;
  readonly slowMode: SlowMode;
  readonly names: Pick<ViewerNames, 'note'>;
}

/** The chat of viewers: the route for messages and hearts (SPEC C). */
export function createChat({
  chat,
  credentials,
  clock,
  rate,
  newId,
  moderation,
  isArchived,
  slowMode,
  names,
}: ChatDeps): { readonly viewerHandlers: Handlers<Pick<typeof viewerApi, 'postChat'>> } {
  /** @throws DomainError `conflict` when the viewer is muted, or the chat is paused or closed */
  function requireCanPost(viewer: Viewer): void {
    const until = moderation.mutedUntil(viewer);
    if (until !== false) {
      throw new DomainError('conflict', 'You are muted in this chat.', { muted: true, until });
    }
    if (isArchived(viewer.streamId)) {
      const detail = 'The show ended over a day ago. Its chat is closed.';
      throw new DomainError('conflict', detail, { paused: true });
    }
    if (moderation.chatMode(viewer.streamId).paused) {
      throw new DomainError('conflict', 'The chat is paused.', { paused: true });
    }
  }

  /** @throws RateLimited */
  async function takeSlot({ streamId, seat }: Viewer, nowMs: number): Promise<void> {
    const { slowModeMs: periodMs } = moderation.chatMode(streamId);
    if (periodMs === 0) return;
    const waitMs = await slowMode.take({ streamId, seat, periodMs, nowMs });
    if (waitMs === 0) return;
    const seconds = Math.ceil(waitMs / 1000);
    const detail = `Slow mode allows one message every ${periodMs / 1000} s; post again in ${seconds} s.`;
    throw new RateLimited(detail, seconds);
  }

  return {
    viewerHandlers: {
      postChat: async (request, route) => {
        const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
        rate.take(`${viewer.streamId}:${viewer.seat}`);
        const post = await readBody(request, chatPostSchema, route.operation.bodyBytes);
        credentials.requireNotBanned(viewer);
        requireCanPost(viewer);
        if (post.kind === 'heart') chat.hearts(viewer.streamId, post.count);
        else {
          const at = clock.nowMs();
          await takeSlot(viewer, at);
          const { streamId, seat } = viewer;
          const { name = '', text } = post;
          const id = newId();
          const element = { id, viewer: viewer.id, name, text, at };
          const client = clientKey(route.clientRateKey(request));
          chat.post(streamId, { kind: post.kind, element, client });
          names.note({ streamId, seat, name, messageId: id });
        }
        return route.noContent();
      },
    },
  };
}
