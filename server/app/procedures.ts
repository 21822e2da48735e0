import { accountProcedures } from '../auth/accounts/accounts-sql.ts';
import { linkProcedures } from '../auth/members/links-sql.ts';
import { memberProcedures } from '../auth/members/members-sql.ts';
import { sessionProcedures } from '../auth/members/sessions-sql.ts';
import { tokenProcedures } from '../auth/viewer-tokens/tokens-sql.ts';
import { viewerNameProcedures } from '../domains/chat/viewer-names-sql.ts';
import { exportProcedures } from '../domains/exports/exports-sql.ts';
import { historyProcedures } from '../domains/history/history-sql.ts';
import { liveProcedures } from '../domains/live/live-sql.ts';
import { chatStateProcedures } from '../domains/moderation/chat-state-sql.ts';
import { moderationProcedures } from '../domains/moderation/moderation-sql.ts';
import { questionProcedures } from '../domains/moderation/questions-sql.ts';
import { restrictionProcedures } from '../domains/moderation/restrictions-sql.ts';
import { sentMessageProcedures } from '../domains/moderation/sent-message-sql.ts';
import { presenterProcedures } from '../domains/presenter/presenter-sql.ts';
import { productProcedures } from '../domains/products/products-sql.ts';
import { answerProcedures } from '../domains/quizzes/answers-sql.ts';
import { quizDueWork, winnersDueWork } from '../domains/quizzes/due-work.ts';
import { quizProcedures } from '../domains/quizzes/quizzes-sql.ts';
import { winnerContactProcedures } from '../domains/quizzes/winner-contacts-sql.ts';
import { winnersProcedures } from '../domains/quizzes/winners-sql.ts';
import { rehearsalProcedures } from '../domains/rehearsals/rehearsals-sql.ts';
import { removalProcedures } from '../domains/rehearsals/removal-sql.ts';
import { createReopenProcedures, reportProcedures } from '../domains/reports/reports-sql.ts';
import { showProcedures } from '../domains/reports/show-sql.ts';
import { rundownProcedures } from '../domains/rundown/rundown-sql.ts';
import { streamDueWork } from '../domains/streams/due-work.ts';
import { producerEventProcedures } from '../domains/streams/producer-events-sql.ts';
import { detailProcedures } from '../domains/streams/stream-detail-sql.ts';
import {
  lockOwnStream,
  ownStream,
  readLockedStream,
  reopenLockedStream,
  startLockedStream,
  streamProcedures,
} from '../domains/streams/streams-sql.ts';
import { deliveryProcedures } from '../domains/webhooks/deliveries-sql.ts';
import { dispatchProcedures } from '../domains/webhooks/dispatch-sql.ts';
import { webhookDueWork } from '../domains/webhooks/due-work.ts';
import { sendingProcedures } from '../domains/webhooks/sending-sql.ts';
import { webhookProcedures } from '../domains/webhooks/webhooks-sql.ts';
import { createIngestProcedures } from '../media/ingest/ingest-sql.ts';
import { tailRepairProcedures } from '../realtime/coordination/tail-repair-sql.ts';
import { sealedProcedures } from '../realtime/feed/sealed-sql.ts';
import { createSealingProcedures } from '../realtime/feed/sealing-sql.ts';
import { idempotencyProcedures } from '../storage/sql/idempotency.ts';
import type { Calls } from '../storage/sql/procedure.ts';
import { createSetBackProcedures } from './set-back-sql.ts';

// In the order in which the sealing transaction runs them; webhooks log the events of the others.
const sealingProcedures = createSealingProcedures([
  streamDueWork,
  quizDueWork,
  winnersDueWork,
  webhookDueWork,
]);

/** All procedures of the database, by name. */
export const procedures = {
  ...accountProcedures,
  ...memberProcedures,
  ...sessionProcedures,
  ...linkProcedures,
  ...tokenProcedures,
  ...streamProcedures,
  ...detailProcedures,
  ...createIngestProcedures({ ownStream, lockOwnStream, readLockedStream, startLockedStream }),
  ...quizProcedures,
  ...rundownProcedures,
  ...answerProcedures,
  ...winnersProcedures,
  ...winnerContactProcedures,
  ...producerEventProcedures,
  ...productProcedures,
  ...sealedProcedures,
  ...sealingProcedures,
  ...createSetBackProcedures(sealingProcedures),
  ...tailRepairProcedures,
  ...exportProcedures,
  ...webhookProcedures,
  ...deliveryProcedures,
  ...dispatchProcedures,
  ...sendingProcedures,
  ...viewerNameProcedures,
  ...chatStateProcedures,
  ...moderationProcedures,
  ...restrictionProcedures,
  ...questionProcedures,
  ...sentMessageProcedures,
  ...liveProcedures,
  ...presenterProcedures,
  ...historyProcedures,
  ...showProcedures,
  ...reportProcedures,
  ...createReopenProcedures({ lockOwnStream, reopenLockedStream }),
  ...rehearsalProcedures,
  ...removalProcedures,
  ...idempotencyProcedures,
};

/** The database as the domains see it: each takes the part it needs. */
export type Store = Calls<typeof procedures>;
