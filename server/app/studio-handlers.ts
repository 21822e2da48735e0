import type { studioApi } from '../../protocol/studio-api.ts';
import {
  type StudioAccountRoutes,
  studioAccountHandlers,
} from '../auth/accounts/api-token-routes.ts';
import { linkHandlers } from '../auth/members/link-routes.ts';
import { memberHandlers } from '../auth/members/member-routes.ts';
import type { SessionGate } from '../auth/members/session-call.ts';
import { sessionHandlers } from '../auth/members/session-routes.ts';
import { presenterKeyHandlers } from '../auth/presenter-keys/presenter-key-routes.ts';
import { studioWrapper } from '../auth/studio-operation.ts';
import { exportHandlers } from '../domains/exports/export-routes.ts';
import { historyHandlers } from '../domains/history/history-routes.ts';
import type { LiveOperations } from '../domains/live/live-routes.ts';
import {
  type ModerationRoutes,
  moderationHandlers,
} from '../domains/moderation/moderation-routes.ts';
import { studioQuizHandlers } from '../domains/quizzes/studio-quiz-routes.ts';
import { type RehearsalRoutes, rehearsalHandlers } from '../domains/rehearsals/rehearsal-routes.ts';
import { reportHandlers } from '../domains/reports/report-routes.ts';
import { rundownHandlers } from '../domains/rundown/rundown-routes.ts';
import { ingestHandlers, type StudioIngestRoutes } from '../domains/streams/ingest-routes.ts';
import { studioStreamHandlers } from '../domains/streams/studio-stream-routes.ts';
import { type WebhookRoutes, webhookHandlers } from '../domains/webhooks/webhook-routes.ts';
import type { Handlers } from '../http/route.ts';
import type { Store } from './procedures.ts';

export interface StudioRoutes
  extends SessionGate,
    Pick<StudioAccountRoutes, 'newId'>,
    Pick<WebhookRoutes, 'webhookPolicy'>,
    Pick<ModerationRoutes, 'rooms'>,
    Pick<RehearsalRoutes, 'rehearsals'> {
  /** Shows as they go, which end with the drain. */
  readonly live: Handlers<LiveOperations>;
  readonly store: Store;
  /** Ports on which video is taken; none by default. */
  readonly ingestAddresses?: StudioIngestRoutes['ingestAddresses'];
}

const NO_PORTS = { rtmpPort: null, srtPort: null };

/** The producer's API under `/studio/v1` (SPEC P). */
export function studioHandlers(options: StudioRoutes): Handlers<typeof studioApi> {
  const studio = studioWrapper(options);
  return {
    ...sessionHandlers(options),
    ...linkHandlers(options),
    ...memberHandlers(studio, options),
    ...studioAccountHandlers(studio, options),
    ...studioStreamHandlers(studio, options),
    ...ingestHandlers(studio, { ingestAddresses: NO_PORTS, ...options }),
    ...studioQuizHandlers(studio, options),
    ...rundownHandlers(studio, options, options),
    ...webhookHandlers(studio, options),
    ...exportHandlers(options, options),
    ...historyHandlers(studio, options),
    ...moderationHandlers(studio, options),
    ...reportHandlers(studio, options),
    ...rehearsalHandlers(studio, options),
    ...presenterKeyHandlers(studio, options),
    ...options.live,
  };
}
