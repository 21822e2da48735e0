import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { PostThread } from './post-thread.ts';
import { type SenderOptions, WebhookSender } from './sender.ts';
import { type WebhookRoutes, webhookHandlers } from './webhook-routes.ts';

export interface WebhookDeps extends WebhookRoutes, Omit<SenderOptions, 'store' | 'post'> {
  readonly studio: StudioHandlerFactory;
  readonly store: WebhookRoutes['store'] & SenderOptions['store'];
  /** Whether this node sends deliveries; every node dispatches events. */
  readonly sends: boolean;
}

/** Webhooks: the studio API for them, and the sender (SPEC H). */
export function createWebhooks(deps: WebhookDeps) {
  const thread = deps.sends
    ? new PostThread(deps.webhookPolicy, (reason) =>
        deps.logger.warn({ reason }, 'the thread that sends webhooks failed; another one starts'),
      )
    : null;
  const sender = new WebhookSender({ ...deps, post: thread?.post ?? null });
  return {
    handlers: webhookHandlers(deps.studio, deps),
    sender,
    /** Ends the thread that sends; after `sender.stop()`. */
    close: () => thread?.stop(),
  };
}
