import type { Operation } from './operation.ts';
import { reportSchema } from './report.ts';
import { exportQuerySchema } from './studio.ts';
import { exportResponses, producerRead } from './studio-operation.ts';

/** The report of a show, and exports of its audience, chat and results (SPEC J). */
export const reportApi = {
  readReport: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/report',
    summary: 'Read the report of an ended show',
    description:
      'Returns 409 before the end of the stream. After it the state is `working` until the report is made.',
    responses: { 200: { description: 'The report, or its progress', schema: reportSchema } },
    errors: [404, 409],
  },
  exportAudience: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/audience',
    summary: 'Export the published viewer counts, one per second',
    query: exportQuerySchema,
    responses: exportResponses(
      '`interval`, `at` (its start, Unix ms), `time` (the same, ISO 8601) and `count`',
    ),
  },
  exportChat: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/chat',
    summary: 'Export all chat messages sent to viewers',
    query: exportQuerySchema,
    responses: exportResponses(
      '`interval`, `at` (Unix ms), `time` (the same, ISO 8601), `kind`, `id`, `viewer`, `name`, `text` and `hidden`',
    ),
  },
  exportResults: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/results',
    summary: 'Export the final counts of all closed quizzes, one row per choice',
    query: exportQuerySchema,
    responses: exportResponses(
      '`quizId`, `question`, `choice`, `correct`, `count` and `percentage`',
    ),
  },
} as const satisfies Record<string, Operation>;
