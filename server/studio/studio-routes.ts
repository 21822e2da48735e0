import type { studioApi } from '../../protocol/studio-api.ts';
import type { Handlers } from '../http/route.ts';
import { linkHandlers } from '../members/link-routes.ts';
import { memberHandlers } from '../members/member-routes.ts';
import type { SessionGate } from '../members/session-call.ts';
import { sessionHandlers } from '../members/session-routes.ts';
import { type ModerationRoutes, moderationHandlers } from '../moderation/moderation-routes.ts';
import { presenterKeyHandlers } from '../presenter/presenter-key-routes.ts';
import type { TheRecord } from '../procedures.ts';
import { type RehearsalRoutes, rehearsalHandlers } from '../rehearsal/rehearsal-routes.ts';
import { reportHandlers } from '../report/report-routes.ts';
import { rundownHandlers } from '../rundown/rundown-routes.ts';
import { type WebhookRoutes, webhookHandlers } from '../webhooks/webhook-routes.ts';
import { type StudioAccountRoutes, studioAccountHandlers } from './account-routes.ts';
import { exportHandlers } from './export-routes.ts';
import { historyHandlers } from './history/history-routes.ts';
import { ingestHandlers, type StudioIngestRoutes } from './ingest-routes.ts';
import type { LiveOperations } from './live/live-routes.ts';
import { studioQuizHandlers } from './quiz-routes.ts';
import { studioStreamHandlers } from './stream-routes.ts';
import { studioWrapper } from './studio-call.ts';

export interface StudioRoutes
  extends SessionGate,
    Pick<StudioAccountRoutes, 'newId'>,
    Pick<WebhookRoutes, 'webhookPolicy'>,
    Pick<ModerationRoutes, 'rooms'>,
    Pick<RehearsalRoutes, 'rehearsals'> {
  /** Shows as they go, which end with the drain. */
  readonly live: Handlers<LiveOperations>;
  readonly record: TheRecord;
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
