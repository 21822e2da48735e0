import type { CloseOutcome, CloseTask } from './load/close-load.ts';
import { startLoad } from './load/load.ts';
import { ViewerTokens } from './load/viewer-tokens.ts';
import { type Bench, type BenchOptions, IncorrectResponse } from './run/bench.ts';
import { startClusterBackends, startDatabase } from './run/database.ts';
import { type Fourbeat, startFourbeat } from './run/fourbeat.ts';
import { checkCounts, draftQuizzes, publishQuiz } from './run/quizzes.ts';
import type { Row } from './run/result.ts';
import { spreadOf } from './run/statistics.ts';

const VIEWERS = 20_000;
/** A process may have 20,000 open files; further viewers share connections. */
const CONNECTIONS = 18_000;
const ANSWERS_MS = 2_000;
/** A winners round accepts reports for a second after the interval that requested them. */
const REPORTS_MS = 800;
/** Viewers receive the quiz within 250 ms, and the last answers may be late. */
const QUIZ_DURATION_MS = ANSWERS_MS + 2_000;
const POLL_MS = 50;
const P99_MAX_MS = 250;
const P99_AIM_MS = 100;

type Figures = Record<'p99 ms' | 'p50 ms' | 'most ms' | 'sent late p99 ms', number>;

/** The peak load of a show: all viewers answer, and then all report a win. */
export const close: Bench = {
  name: 'close',
  description: `${VIEWERS} viewers answer in 2 s, and then report as winners within a second`,
  requires: ['postgresql', 'redis-server'],
  run: async (options) => {
    const inSqlite = await measureCloses('SQLite', await startFourbeat(), options);
    const database = await startDatabase();
    const { settings, stop } = await startClusterBackends(database);
    try {
      const inPostgres = await measureCloses('PostgreSQL', await startFourbeat(settings), options);
      const rows = [...inSqlite, ...inPostgres];
      return {
        bench: 'close',
        title: `${VIEWERS} viewers answer evenly within ${ANSWERS_MS / 1_000} s, and report within ${REPORTS_MS / 1_000} s`,
        rows,
        targets: rows.map(({ name, figures }) => {
          const value = figures['p99 ms'] ?? spreadOf([]);
          return { name: `${name}, p99 ms`, value, atMost: P99_MAX_MS, aim: P99_AIM_MS };
        }),
        notes: [
          `Latency is the time from the planned moment of a request to its 204 (401 for viewers who did not win), over ${CONNECTIONS} keep-alive connections. ` +
            'Each quiz counted exactly the acknowledged answers, and each winners round exactly the acknowledged winners.',
        ],
      };
    } finally {
      await stop();
      await database.stop();
    }
  },
};

async function measureCloses(
  database: string,
  fourbeat: Fourbeat,
  options: BenchOptions,
): Promise<Row[]> {
  const tokens = new ViewerTokens(fourbeat);
  const samples: Record<'answers' | 'reports', CloseOutcome>[] = [];
  try {
    // The first run is a warm-up: code that is not compiled yet may be too slow for a report.
    for (let round = 0; round <= options.rounds; round++) {
      const step = round === 0 ? 'warm-up' : `round ${round} of ${options.rounds}`;
      options.progress.show(`close: ${database}, ${step}`);
      samples.push(await measureClose(fourbeat, await tokens.of(VIEWERS)));
    }
  } finally {
    await fourbeat.stop();
  }
  const rowOf = (name: 'answers' | 'reports'): Row => {
    const all = samples.slice(1).map((sample) => figuresOf(sample[name]));
    const names = Object.keys(all[0] ?? {}) as (keyof Figures)[];
    const figures = names.map((one) => [one, spreadOf(all.map((sample) => sample[one]))]);
    return { name: `${database}: ${name}`, figures: Object.fromEntries(figures) };
  };
  return [rowOf('answers'), rowOf('reports')];
}

async function measureClose(fourbeat: Fourbeat, tokens: readonly string[]) {
  const { url, streamId, studio } = fourbeat;
  const task: CloseTask = {
    ...{ url, streamId, connections: CONNECTIONS, tokens },
    ...{ answersMs: ANSWERS_MS, reportsMs: REPORTS_MS },
  };
  const load = startLoad('close-load.ts', task);
  try {
    await load.receive('connected');
    const ids = await draftQuizzes(fourbeat, 1, QUIZ_DURATION_MS);
    for (const id of ids) await publishQuiz(fourbeat, id);
    const answers = await load.receive<CloseOutcome>('answers');
    await checkCounts(fourbeat, ids, [answers.accepted]);
    const { id } = await studio<{ id: string }>('POST', `/streams/${streamId}/request-winners`);
    const reports = await load.receive<CloseOutcome>('reports');
    const counted = await winnersOf(fourbeat, id);
    if (counted !== reports.accepted) {
      throw new IncorrectResponse(
        `the winners round counts ${counted} winners of ${reports.accepted}`,
      );
    }
    return { answers, reports };
  } finally {
    await load.stop();
  }
}

async function winnersOf({ studio, streamId }: Fourbeat, roundId: string): Promise<number> {
  type Rounds = { results: { id: string; count: number | null }[] };
  for (;;) {
    const { results } = await studio<Rounds>('GET', `/streams/${streamId}/winners-rounds`);
    const count = results.find(({ id }) => id === roundId)?.count;
    if (typeof count === 'number') return count;
    await Bun.sleep(POLL_MS);
  }
}

function figuresOf({ incorrect, p50Ms, p99Ms, maxMs, sendDelayP99Ms }: CloseOutcome): Figures {
  if (incorrect !== null)
    throw new IncorrectResponse(
      `${incorrect}; p99 after ${p99Ms} ms, sent ${sendDelayP99Ms} ms late`,
    );
  return { 'p99 ms': p99Ms, 'p50 ms': p50Ms, 'most ms': maxMs, 'sent late p99 ms': sendDelayP99Ms };
}
