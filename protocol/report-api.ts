import type { Operation } from './operation.ts';
import { reportSchema } from './report.ts';
import { exportQuerySchema } from './studio.ts';
import { exportResponses, producerRead } from './studio-operation.ts';

/** What a show was, after its end (SPEC J). */
export const reportApi = {
  readReport: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/report',
    summary: 'The report of a show that has ended',
    description:
      'It is worked out by itself once the stream has ended and its quizzes have closed; until then the state is `working`.',
    responses: { 200: { description: 'The report, or how far it is', schema: reportSchema } },
    errors: [404, 409],
  },
  exportAudience: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/audience',
    summary: 'How many viewers there were, each second that told it',
    query: exportQuerySchema,
    responses: exportResponses('`interval`, `at` (its begin, Unix ms) and `count`'),
    errors: [404],
  },
  exportChat: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/chat',
    summary: 'Every line of the chat that viewers were sent',
    query: exportQuerySchema,
    responses: exportResponses(
      '`interval`, `at` (Unix ms), `kind`, `id`, `viewer`, `name`, `text` and `hidden`',
    ),
    errors: [404],
  },
  exportResults: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/results',
    summary: 'The final counts of every quiz that has closed, a row for each choice',
    query: exportQuerySchema,
    responses: exportResponses(
      '`quizId`, `question`, `choice`, `correct`, `count` and `percentage`',
    ),
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
