import { accountProcedures } from './accounts/accounts-sql.ts';
import { lostTailProcedures } from './feed/lost-tail-sql.ts';
import { outboxProcedures } from './feed/outbox-sql.ts';
import { sealingProcedures } from './feed/sealing-sql.ts';
import { ingestProcedures } from './media/ingest/ingest-sql.ts';
import { linkProcedures } from './members/links-sql.ts';
import { memberProcedures } from './members/members-sql.ts';
import { sessionProcedures } from './members/sessions-sql.ts';
import { chatRoomProcedures } from './moderation/chat-rooms-sql.ts';
import { moderationProcedures } from './moderation/moderation-sql.ts';
import { questionProcedures } from './moderation/questions-sql.ts';
import { restrictionProcedures } from './moderation/restrictions-sql.ts';
import { presenterProcedures } from './presenter/presenter-sql.ts';
import { answerProcedures } from './quizzes/answers-sql.ts';
import { quizProcedures } from './quizzes/quizzes-sql.ts';
import { winnersProcedures } from './quizzes/winners-sql.ts';
import { rehearsalProcedures } from './rehearsal/rehearsals-sql.ts';
import { removalProcedures } from './rehearsal/removal-sql.ts';
import { reportProcedures } from './report/reports-sql.ts';
import { showProcedures } from './report/show-sql.ts';
import { rundownProcedures } from './rundown/rundown-sql.ts';
import { idempotencyProcedures } from './sql/idempotency.ts';
import type { Calls } from './sql/procedure.ts';
import { detailProcedures } from './streams/detail-sql.ts';
import { streamProcedures } from './streams/streams-sql.ts';
import { exportProcedures } from './studio/exports-sql.ts';
import { historyProcedures } from './studio/history/history-sql.ts';
import { liveProcedures } from './studio/live/live-sql.ts';
import { tokenProcedures } from './tokens/tokens-sql.ts';
import { deliveryProcedures } from './webhooks/deliveries-sql.ts';
import { sendingProcedures } from './webhooks/sending-sql.ts';
import { tellingProcedures } from './webhooks/telling-sql.ts';
import { webhookProcedures } from './webhooks/webhooks-sql.ts';

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

/** The record as the domains see it: each takes the part it needs. */
export type TheRecord = Calls<typeof procedures>;
