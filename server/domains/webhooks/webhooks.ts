import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import type { MetricDefinition } from '../../platform/metrics.ts';
import { createPost } from './post.ts';
import { type SenderOptions, WebhookSender } from './sender.ts';
import { type WebhookOperations, type WebhookRoutes, webhookHandlers } from './webhook-routes.ts';

export interface WebhookDeps extends WebhookRoutes, Omit<SenderOptions, 'store' | 'post'> {
  readonly studio: StudioHandlerFactory;
  readonly store: WebhookRoutes['store'] & SenderOptions['store'];
  /** Whether this node sends deliveries; every node dispatches events. */
  readonly sends: boolean;
}

export interface Webhooks {
  readonly handlers: Handlers<WebhookOperations>;
  readonly metrics: readonly MetricDefinition[];
  /** Starts to dispatch events and to send deliveries. */
  start(): void;
  /** Sends everything due now; for tests with a manual clock. */
  sendAll(): Promise<void>;
  /** Ends open attempts within a few seconds; other nodes send the rest. */
  stop(): Promise<void>;
}

/** Webhooks: the studio API for them, and the sender (SPEC H). */
export function createWebhooks(deps: WebhookDeps): Webhooks {
  const post = deps.sends ? createPost({ policy: deps.webhookPolicy }) : null;
  const sender = new WebhookSender({ ...deps, post });
  return {
    handlers: webhookHandlers(deps.studio, deps),
    metrics: sender.metrics,
    start: () => sender.start(),
    sendAll: () => sender.sendAll(),
    stop: () => sender.stop(),
  };
}
