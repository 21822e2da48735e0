import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { createPost } from './post.ts';
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
  const post = deps.sends ? createPost({ policy: deps.webhookPolicy }) : null;
  return {
    handlers: webhookHandlers(deps.studio, deps),
    sender: new WebhookSender({ ...deps, post }),
  };
}
