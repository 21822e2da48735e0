import { accountProcedures } from '../auth/accounts/accounts-sql.ts';
import { linkProcedures } from '../auth/members/links-sql.ts';
import { memberProcedures } from '../auth/members/members-sql.ts';
import { sessionProcedures } from '../auth/members/sessions-sql.ts';
import { tokenProcedures } from '../auth/viewer-tokens/tokens-sql.ts';
import { exportProcedures } from '../domains/exports/exports-sql.ts';
import { historyProcedures } from '../domains/history/history-sql.ts';
import { liveProcedures } from '../domains/live/live-sql.ts';
import { chatRoomProcedures } from '../domains/moderation/chat-rooms-sql.ts';
import { moderationProcedures } from '../domains/moderation/moderation-sql.ts';
import { questionProcedures } from '../domains/moderation/questions-sql.ts';
import { restrictionProcedures } from '../domains/moderation/restrictions-sql.ts';
import { presenterProcedures } from '../domains/presenter/presenter-sql.ts';
import { answerProcedures } from '../domains/quizzes/answers-sql.ts';
import { quizProcedures } from '../domains/quizzes/quizzes-sql.ts';
import { winnersProcedures } from '../domains/quizzes/winners-sql.ts';
import { rehearsalProcedures } from '../domains/rehearsals/rehearsals-sql.ts';
import { removalProcedures } from '../domains/rehearsals/removal-sql.ts';
import { reportProcedures } from '../domains/reports/reports-sql.ts';
import { showProcedures } from '../domains/reports/show-sql.ts';
import { rundownProcedures } from '../domains/rundown/rundown-sql.ts';
import { detailProcedures } from '../domains/streams/detail-sql.ts';
import { streamProcedures } from '../domains/streams/streams-sql.ts';
import { deliveryProcedures } from '../domains/webhooks/deliveries-sql.ts';
import { tellingProcedures } from '../domains/webhooks/dispatch-sql.ts';
import { sendingProcedures } from '../domains/webhooks/sending-sql.ts';
import { webhookProcedures } from '../domains/webhooks/webhooks-sql.ts';
import { ingestProcedures } from '../media/ingest/ingest-sql.ts';
import { lostTailProcedures } from '../realtime/coordination/tail-repair-sql.ts';
import { outboxProcedures } from '../realtime/feed/outbox-sql.ts';
import { sealingProcedures } from '../realtime/feed/sealing-sql.ts';
import { idempotencyProcedures } from '../storage/sql/idempotency.ts';
import type { Calls } from '../storage/sql/procedure.ts';

/** Everything the program does to its record, by name. */
export const procedures = {
  ...accountProcedures,
  ...memberProcedures,
  ...sessionProcedures,
  ...linkProcedures,
  ...tokenProcedures,
  ...streamProcedures,
  ...detailProcedures,
  ...ingestProcedures,
  ...quizProcedures,
  ...rundownProcedures,
  ...answerProcedures,
  ...winnersProcedures,
  ...outboxProcedures,
  ...sealingProcedures,
  ...lostTailProcedures,
  ...exportProcedures,
  ...webhookProcedures,
  ...deliveryProcedures,
  ...tellingProcedures,
  ...sendingProcedures,
  ...chatRoomProcedures,
  ...moderationProcedures,
  ...restrictionProcedures,
  ...questionProcedures,
  ...liveProcedures,
  ...presenterProcedures,
  ...historyProcedures,
  ...showProcedures,
  ...reportProcedures,
  ...rehearsalProcedures,
  ...removalProcedures,
  ...idempotencyProcedures,
};

/** The database as the domains see it: each takes the part it needs. */
export type Store = Calls<typeof procedures>;
