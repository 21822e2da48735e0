import { quizFileQuerySchema } from '../../../protocol/rundown.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import {
  authorizeStudio,
  ownStreamInput,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import { pathIds, readQuery } from '../../http/parameters.ts';
import type { Handler } from '../../http/route.ts';
import { DomainError } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { attachmentHeader } from '../exports/export-file-name.ts';
import { studioQuizOf } from '../quizzes/quiz-wire.ts';
import { newQuizOf } from '../quizzes/quizzes-sql.ts';
import type { streamProcedures } from '../streams/streams-sql.ts';
import { ImportError, type ImportInput, readQuizzes } from './read-quizzes.ts';
import type { RundownRows, rundownProcedures } from './rundown-sql.ts';
import { CONTENT_TYPES, serializeQuizzes } from './write-quizzes.ts';

export interface RundownDeps {
  readonly studio: StudioHandlerFactory;
  /** Authorizes exports, which respond with a file. */
  readonly context: StudioContext;
  readonly store: Calls<typeof rundownProcedures & Pick<typeof streamProcedures, 'findOwnStream'>>;
  readonly newId: () => string;
}

/** The rundown of a stream: the studio API for it (SPEC D). */
export function createRundown({ studio, context, store, newId }: RundownDeps) {
  return {
    handlers: {
      listQuizzes: studio(studioApi.listQuizzes, async (call) =>
        rundownJson(await store.listQuizzes(ownStreamInput(call))),
      ),

      orderQuizzes: studio(studioApi.orderQuizzes, async (call, { order, revision = null }) => {
        const input = { ...ownStreamInput(call), order, revision };
        return rundownJson(await store.orderQuizzes(input, call.idempotency));
      }),

      duplicateQuiz: studio(studioApi.duplicateQuiz, async (call) => {
        const { producer, params, idempotency } = call;
        const input = { id: params.quiz_id ?? '', producer, copyId: newId() };
        return studioQuizOf(await store.duplicateQuiz(input, idempotency));
      }),

      importQuizzes: studio(studioApi.importQuizzes, async (call, file) => {
        const quizzes = parseImport(file);
        const drafts = quizzes.map((quiz) => ({ id: newId(), quiz }));
        const input = { ...ownStreamInput(call), drafts };
        const rows = await store.importQuizzes(input, call.idempotency);
        return { results: rows.map(studioQuizOf) };
      }),

      previewImport: studio(studioApi.previewImport, async (call, file) => {
        const quizzes = parseImport(file);
        const { streamId, producer } = ownStreamInput(call);
        await store.findOwnStream({ id: streamId, producer });
        return { quizzes };
      }),

      exportQuizzes: exportHandler(context, store),
    },
  };
}

function parseImport(file: Omit<ImportInput, 'randomBelow'>) {
  const randomBelow = (limit: number) => Math.floor(runtime.random() * limit);
  try {
    return readQuizzes({ ...file, randomBelow });
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    throw new DomainError('invalid', error.message, { errors: error.issues });
  }
}

function exportHandler(context: StudioContext, store: RundownDeps['store']): Handler {
  return async (request, route) => {
    const caller = await authorizeStudio(context, request, route);
    const producer = caller.user.uuid;
    const { format } = readQuery(request, quizFileQuerySchema);
    const streamId = pathIds(request).stream_id ?? '';
    const { quizzes } = await store.listQuizzes({ streamId, producer });
    const stream = await store.findOwnStream({ id: streamId, producer });
    const texts = serializeQuizzes(quizzes.map(newQuizOf), format);
    const bytes = Buffer.byteLength(JSON.stringify(quizzes));
    const body = context.large.body({ request, route, caller }, texts, bytes);
    return new Response(body, {
      headers: {
        ...route.headers,
        'X-Request-Id': context.log.requestId(request),
        'Content-Type': CONTENT_TYPES[format],
        'Content-Disposition': attachmentHeader(stream, 'quizzes', format),
      },
    });
  };
}

const rundownJson = ({ quizzes, revision }: RundownRows) => ({
  results: quizzes.map(studioQuizOf),
  revision,
});
