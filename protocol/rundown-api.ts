import { z } from 'zod';
import { IMPORT_BODY_BYTES, ORDER_BODY_BYTES } from './limits.ts';
import type { Operation } from './operation.ts';
import {
  importSchema,
  quizFileQuerySchema,
  quizFileSchema,
  rundownOrderSchema,
  rundownSchema,
} from './rundown.ts';
import { listOf, studioQuizSchema } from './studio.ts';
import { memberRead, producerRead, producerWrite } from './studio-operation.ts';

const rundown = { 200: { description: 'The quizzes', schema: rundownSchema } };

/** The rundown: the ordered quizzes of a stream. */
export const rundownApi = {
  listQuizzes: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: "List the stream's quizzes in the order of the rundown",
    responses: rundown,
  },
  orderQuizzes: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/rundown',
    summary: 'Reorder the drafts; published quizzes keep their positions',
    description:
      'If another request changed the rundown, this returns 409 with the current order of the drafts in `order`.',
    body: rundownOrderSchema,
    bodyBytes: ORDER_BODY_BYTES,
    responses: rundown,
  },
  duplicateQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/duplicate',
    summary: 'Create a copy of the quiz as a draft right after it',
    responses: { 201: { description: 'The draft', schema: studioQuizSchema } },
  },
  importQuizzes: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes/import',
    summary: 'Import all quizzes of a file, or none, as drafts at the end of the rundown',
    description:
      'An invalid file returns 400 with `errors`: the line or the number of the quiz, the field and the reason.',
    body: importSchema,
    bodyBytes: IMPORT_BODY_BYTES,
    responses: { 201: { description: 'The drafts', schema: listOf(studioQuizSchema) } },
  },
  previewImport: {
    ...producerRead,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes/import/preview',
    summary: 'Show the quizzes that an import of the file would create; creates nothing',
    description: 'Where the import shuffles the choices, it may do so in another order.',
    body: importSchema,
    bodyBytes: IMPORT_BODY_BYTES,
    responses: { 200: { description: 'The quizzes', schema: quizFileSchema } },
  },
  exportQuizzes: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/quizzes',
    summary: 'Export the quizzes as a file that can be imported again',
    query: quizFileQuerySchema,
    responses: {
      200: {
        description: 'All quizzes in the order of the rundown, published ones included',
        schema: quizFileSchema,
        otherTypes: {
          'text/csv': z
            .string()
            .describe('A byte order mark, a header row, then one quiz per row (RFC 4180)'),
        },
        headers: { 'Content-Disposition': z.string().describe('Suggested file name') },
      },
    },
  },
} as const satisfies Record<string, Operation>;
