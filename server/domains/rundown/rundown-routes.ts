import { randomInt } from 'node:crypto';
import { quizFileQuerySchema } from '../../../protocol/rundown.ts';
import type { rundownApi } from '../../../protocol/rundown-api.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import {
  admit,
  ofStream,
  type StudioGate,
  type StudioWrapper,
} from '../../auth/studio-operation.ts';
import { idsOf } from '../../http/path-ids.ts';
import { Problem } from '../../http/problem.ts';
import { readQuery } from '../../http/query.ts';
import type { Handler, Handlers } from '../../http/route.ts';
import { studioQuizOf } from '../streams/studio-wire.ts';
import { type Reading, readQuizzes, WrongText } from './read-quizzes.ts';
import type { RundownRows } from './rundown-sql.ts';
import { CONTENT_TYPES, writtenQuizzes } from './write-quizzes.ts';

export interface RundownRoutes {
  readonly store: Pick<Store, 'listQuizzes' | 'orderQuizzes' | 'duplicateQuiz' | 'importQuizzes'>;
  readonly newId: () => string;
}

/** The rundown of a stream (SPEC D). */
export function rundownHandlers(
  studio: StudioWrapper,
  gate: StudioGate,
  { store, newId }: RundownRoutes,
): Handlers<typeof rundownApi> {
  return {
    listQuizzes: studio(studioApi.listQuizzes, async (call) =>
      rundownOf(await store.listQuizzes(ofStream(call))),
    ),

    orderQuizzes: studio(studioApi.orderQuizzes, async (call, { order, revision = null }) =>
      rundownOf(await store.orderQuizzes({ ...ofStream(call), order, revision }, call.once)),
    ),

    duplicateQuiz: studio(studioApi.duplicateQuiz, async (call) => {
      const { producer, params, once } = call;
      const input = { id: params.quiz_id ?? '', producer, copyId: newId() };
      return studioQuizOf(await store.duplicateQuiz(input, once));
    }),

    importQuizzes: studio(studioApi.importQuizzes, async (call, file) => {
      const quizzes = quizzesIn({ ...file, randomBelow: randomInt });
      const drafts = quizzes.map((quiz) => ({ id: newId(), quiz }));
      const rows = await store.importQuizzes({ ...ofStream(call), drafts }, call.once);
      return { results: rows.map(studioQuizOf) };
    }),

    exportQuizzes: exporting(gate, store),
  };
}

function quizzesIn(reading: Reading) {
  try {
    return readQuizzes(reading);
  } catch (error) {
    if (!(error instanceof WrongText)) throw error;
    throw new Problem(400, error.message, {}, { errors: error.flaws });
  }
}

function exporting(gate: StudioGate, store: RundownRoutes['store']): Handler {
  return async (request, route) => {
    const { user } = await admit(gate, request, route);
    const { format } = readQuery(request, quizFileQuerySchema);
    const streamId = idsOf(request).stream_id ?? '';
    const rows = await store.listQuizzes({ streamId, producer: user.uuid });
    const quizzes = rundownOf(rows).results.map(
      ({ question, choices, answer, duration, reveal }) => ({
        question,
        choices,
        answer,
        duration,
        reveal,
      }),
    );
    return new Response(writtenQuizzes(quizzes, format), {
      headers: {
        ...route.bare,
        'X-Request-Id': gate.log.requestId(request),
        'Content-Type': CONTENT_TYPES[format],
        'Content-Disposition': `attachment; filename="quizzes-${streamId}.${format}"`,
      },
    });
  };
}

const rundownOf = ({ quizzes, revision }: RundownRows) => ({
  results: quizzes.map(studioQuizOf),
  revision,
});
