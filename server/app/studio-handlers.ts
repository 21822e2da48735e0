import type { studioApi } from '../../protocol/studio-api.ts';
import { type ApiTokenDeps, apiTokenHandlers } from '../auth/accounts/account-routes.ts';
import { linkHandlers } from '../auth/members/link-routes.ts';
import { memberHandlers } from '../auth/members/member-routes.ts';
import type { SessionContext } from '../auth/members/session-handler.ts';
import { sessionHandlers } from '../auth/members/session-routes.ts';
import { presenterKeyHandlers } from '../auth/presenter-keys/presenter-keys.ts';
import { studioHandlerFactory } from '../auth/studio-handler.ts';
import { createExports } from '../domains/exports/export-routes.ts';
import { createHistory } from '../domains/history/history-routes.ts';
import {
  type ModerationRoutes,
  moderationHandlers,
} from '../domains/moderation/moderation-routes.ts';
import { studioQuizHandlers } from '../domains/quizzes/studio-quiz-routes.ts';
import { type RehearsalRoutes, rehearsalHandlers } from '../domains/rehearsals/rehearsal-routes.ts';
import { reportHandlers } from '../domains/reports/report-routes.ts';
import { createRundown } from '../domains/rundown/rundown-routes.ts';
import { ingestHandlers, type StudioIngestRoutes } from '../domains/streams/ingest-routes.ts';
import { studioStreamHandlers } from '../domains/streams/studio-stream-routes.ts';
import { type WebhookRoutes, webhookHandlers } from '../domains/webhooks/webhook-routes.ts';
import type { Handlers } from '../http/route.ts';
import type { Store } from './procedures.ts';

export interface StudioRoutes
  extends SessionContext,
    Pick<ApiTokenDeps, 'newId'>,
    Pick<WebhookRoutes, 'webhookPolicy'>,
    Pick<ModerationRoutes, 'moderation'>,
    Pick<RehearsalRoutes, 'runner'> {
  /** Shows as they go, which end with the drain. */
  readonly live: Handlers<Pick<typeof studioApi, 'watchShow' | 'presentShow'>>;
  readonly store: Store;
  /** Ports on which video is taken; none by default. */
  readonly ingestAddresses?: StudioIngestRoutes['ingestAddresses'];
}

const NO_PORTS = { rtmpPort: null, srtPort: null };

/** The producer's API under `/studio/v1` (SPEC P). */
export function studioHandlers(options: StudioRoutes): Handlers<typeof studioApi> {
  const studio = studioHandlerFactory(options);
  return {
    ...sessionHandlers(options),
    ...linkHandlers(options),
    ...memberHandlers(studio, options),
    ...apiTokenHandlers(studio, options),
    ...studioStreamHandlers(studio, options),
    ...ingestHandlers(studio, { ingestAddresses: NO_PORTS, ...options }),
    ...studioQuizHandlers(studio, options),
    ...createRundown({ ...options, studio, context: options }).handlers,
    ...webhookHandlers(studio, options),
    ...createExports({ context: options, store: options.store }).handlers,
    ...createHistory({ studio, store: options.store }).handlers,
    ...moderationHandlers(studio, options),
    ...reportHandlers(studio, options),
    ...rehearsalHandlers(studio, options),
    ...presenterKeyHandlers(studio, options),
    ...options.live,
  };
}
