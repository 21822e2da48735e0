import { quizFileQuerySchema } from '../../../protocol/rundown.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import { JsonText } from '../../auth/json-text.ts';
import {
  authorizeStudio,
  ownStreamInput,
  type StudioCall,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import { QUIZ_BYTES_MIN } from '../../auth/write-bytes.ts';
import { pathIds, readQuery } from '../../http/parameters.ts';
import type { Handler } from '../../http/route.ts';
import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';
import { DomainError, RateLimited, Unavailable } from '../../platform/errors.ts';
import type { Step } from '../../platform/pace.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { attachmentHeader } from '../exports/export-file-name.ts';
import { studioQuizOf } from '../quizzes/quiz-wire.ts';
import { newQuizOf, type QuizRow } from '../quizzes/quizzes-sql.ts';
import type { streamProcedures } from '../streams/streams-sql.ts';
import { ImportError, type ImportInput, readQuizzes } from './read-quizzes.ts';
import { memoryOf, readRundown } from './read-rundown.ts';
import type { rundownProcedures } from './rundown-sql.ts';
import { CONTENT_TYPES, serializeQuizzes } from './write-quizzes.ts';

export interface RundownDeps {
  readonly studio: StudioHandlerFactory;
  /** Authorizes exports, which respond with a file. */
  readonly context: StudioContext;
  readonly store: Calls<typeof rundownProcedures & Pick<typeof streamProcedures, 'findOwnStream'>>;
  readonly newId: () => string;
}

/** Imports that wait, each with its file of up to 1 MB. */
const IMPORTS_QUEUED_MAX = 32;
/**
 * Pause after an import, ms. Reading a file takes up to 50 ms of the thread, also one of 64 KB, and an account
 * may send 20 a second: they took the whole thread.
 */
const IMPORT_PAUSE_MS = 100;
/** The pause after a file that takes longer, in times of its reading. */
const IMPORT_PAUSES = 3;
/**
 * SQLite writes the texts of drafts again that move. Those of 2,000 long ones are 16 MB, for which the writes of all wait
 * 0.2 s; what exceeds this counts for L-22.
 */
const MOVED_BYTES_FREE = 1 << 20;

/** The rundown of a stream: the studio API for it (SPEC D). */
export function createRundown({ studio, context, store, newId }: RundownDeps) {
  const imports = new ConcurrencyLimiter(1, IMPORTS_QUEUED_MAX, 'too many imports');
  /** Reads one file at a time; accounts take turns. @throws RateLimited when too many wait, or too much is unread */
  const readFile = (call: StudioCall, file: ImportFile) =>
    imports
      .run(call.producer, async () => {
        // Earlier requests may have left unread responses meanwhile.
        context.large.checkLarge(call);
        const startMs = runtime.monotonicMs();
        try {
          return parseImport(file);
        } finally {
          const tookMs = runtime.monotonicMs() - startMs;
          await runtime.sleep(Math.max(IMPORT_PAUSE_MS, IMPORT_PAUSES * tookMs));
        }
      })
      .catch((error) => {
        if (!(error instanceof Unavailable)) throw error;
        throw new RateLimited('Too many imports at once; try again in 5 s.', 5);
      });
  /** @param movedBytes missing in a result that an older version has kept for repetitions */
  const countMoved = (call: StudioCall, movedBytes: number | null | undefined) =>
    call.addBytes(Math.max(0, (movedBytes ?? 0) - MOVED_BYTES_FREE));
  /** The rundown as `listQuizzes` responds with it. */
  const rundownJson = async (call: StudioCall, step: Step) => {
    const quizJson = (row: QuizRow) => JSON.stringify(studioQuizOf(row));
    const own = ownStreamInput(call);
    const { quizzes, revision } = await readRundown(store, own, step, quizJson);
    const elements = quizzes.map((json, index) => (index === 0 ? json : `,${json}`));
    return new JsonText(['{"results":[', ...elements, `],"revision":${revision}}`]);
  };
  return {
    handlers: {
      listQuizzes: studio(studioApi.listQuizzes, (call) =>
        context.largeOperations.run(call, (step) => rundownJson(call, step)),
      ),

      orderQuizzes: studio(studioApi.orderQuizzes, (call, { order, revision = null }) =>
        context.largeOperations.run(call, async (step) => {
          call.checkBytes();
          const input = { ...ownStreamInput(call), order, revision };
          countMoved(call, await step(() => store.orderQuizzes(input, call.idempotency)));
          return rundownJson(call, step);
        }),
      ),

      // It may move all drafts, too.
      duplicateQuiz: studio(
        studioApi.duplicateQuiz,
        async (call) => {
          const { producer, params, idempotency } = call;
          const input = { id: params.quiz_id ?? '', producer, copyId: newId() };
          const quiz = await store.duplicateQuiz(input, idempotency);
          countMoved(call, quiz.movedBytes);
          return studioQuizOf(quiz);
        },
        { isLarge: true },
      ),

      importQuizzes: studio(studioApi.importQuizzes, async (call, file) => {
        const quizzes = await readFile(call, file);
        call.takeBytes(quizzes.length * QUIZ_BYTES_MIN);
        const drafts = quizzes.map((quiz) => ({ id: newId(), quiz }));
        const input = { ...ownStreamInput(call), drafts };
        const rows = await store.importQuizzes(input, call.idempotency);
        return { results: rows.map(studioQuizOf) };
      }),

      previewImport: studio(studioApi.previewImport, async (call, file) => {
        const { streamId, producer } = ownStreamInput(call);
        const quizzes = await readFile(call, file);
        await store.findOwnStream({ id: streamId, producer });
        return { quizzes };
      }),

      exportQuizzes: exportHandler(context, store),
    },
  };
}

type ImportFile = Omit<ImportInput, 'randomBelow'>;

function parseImport(file: ImportFile) {
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
    // One operation: no other of the account begins between its steps.
    const { stream, quizzes } = await context.largeOperations.run(caller, async (step) => ({
      stream: await step(() => store.findOwnStream({ id: streamId, producer })),
      quizzes: (await readRundown(store, { streamId, producer }, step, newQuizOf)).quizzes,
    }));
    // Operations of other accounts ran meanwhile.
    context.large.checkLarge(caller);
    const texts = context.exports.open(caller, request, serializeQuizzes(quizzes, format));
    const body = context.large.body({ request, route, caller }, texts, memoryOf(quizzes));
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
