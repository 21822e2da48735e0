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

/** The rundown, the part of the producer's API by which quizzes are laid out before they are asked. */
export const rundownApi = {
  listQuizzes: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: "The stream's quizzes, in the order of its rundown",
    responses: rundown,
    errors: [404],
  },
  orderQuizzes: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/rundown',
    summary: 'Put the drafts in another order; published quizzes keep their places',
    description:
      'When somebody else has changed the rundown meanwhile it is 409, with the drafts as they are now as `order`.',
    body: rundownOrderSchema,
    bodyBytes: ORDER_BODY_BYTES,
    responses: rundown,
    errors: [404, 409],
  },
  duplicateQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/duplicate',
    summary: 'A draft like this quiz, right behind it',
    responses: { 201: { description: 'The draft', schema: studioQuizSchema } },
    errors: [404, 409],
  },
  importQuizzes: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes/import',
    summary: 'Drafts from a file, behind the others: all of its quizzes or none',
    description:
      'A text that is wrong is 400, with what is wrong with it as `errors`: the line or the number of the quiz, the field and why.',
    body: importSchema,
    bodyBytes: IMPORT_BODY_BYTES,
    responses: { 201: { description: 'The drafts', schema: listOf(studioQuizSchema) } },
    errors: [404, 409],
  },
  exportQuizzes: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/quizzes',
    summary: 'The quizzes as a file that can be imported again',
    query: quizFileQuerySchema,
    responses: {
      200: {
        description: 'The quizzes in the order of the rundown, those that were published too',
        schema: quizFileSchema,
        otherTypes: {
          'text/csv': z.string().meta({
            description: 'A header row, then one quiz a row (RFC 4180), after a byte order mark',
          }),
        },
        headers: {
          'Content-Disposition': z.string().meta({ description: 'Names the file to save it as' }),
        },
      },
    },
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
