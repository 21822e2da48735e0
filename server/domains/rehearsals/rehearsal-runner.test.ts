import { expect, test } from 'bun:test';
import pino from 'pino';
import type { CrowdFigures } from '../../../protocol/rehearsal.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { CrowdThreadCommand, CrowdThreadEvent } from './crowd-messages.ts';
import { RehearsalRunner, type RehearsalRunnerOptions } from './rehearsal-runner.ts';
import type { RehearsalRow, ReportOutcome } from './rehearsals-sql.ts';

const FIGURES: CrowdFigures = {
  present: 2,
  requests: 7,
  lost: 0,
  answers: { acknowledged: 1, refusedLate: 0, unknown: 0 },
  quizzes: [],
  checks: 3,
  mismatch: null,
};
const ROW: RehearsalRow = {
  streamId: 'hidden',
  showId: 'show',
  node: 'here',
  settings: { viewers: 2, latencyMs: 0, lossShare: 0, botShare: 0, lateShare: 0 },
  figures: null,
  created: 1,
  seen: 1,
  ended: null,
};

type Report = Parameters<RehearsalRunnerOptions['store']['reportRehearsal']>[0];

/** A runner with a fake thread and a fake store with this outcome of reports. */
function setUp(outcome: () => ReportOutcome) {
  const reports: Report[] = [];
  const commands: CrowdThreadCommand[] = [];
  let stopped = 0;
  let emit: (message: CrowdThreadEvent) => void = () => {};
  let tick = () => {};
  const rehearsals = new RehearsalRunner({
    store: {
      reportRehearsal: async (report) => {
        reports.push(report);
        return outcome();
      },
      removeRehearsal: async () => false,
    },
    clock: { nowMs: () => 5 },
    logger: pino({ level: 'silent' }),
    node: 'here',
    roles: new Set(['view-counts', 'polls', 'events'] as const),
    localAddress: () => ({ hostname: '127.0.0.1', port: 4250 }),
    issueToken: async (streamId, identifier) => {
      if (identifier === 'banned') throw new Error('banned');
      return `${streamId} ${identifier}`;
    },
    pause: async () => {},
    startThread: (onMessage) => {
      emit = onMessage;
      return { send: (message) => commands.push(message), stop: () => stopped++ };
    },
    startTimer: (next) => {
      tick = next;
      return () => {
        tick = () => {};
      };
    },
  });
  const nextTask = () => new Promise(setImmediate);
  return {
    rehearsals,
    reports,
    commands,
    stopped: () => stopped,
    emit: (message: CrowdThreadEvent) => {
      emit(message);
      return nextTask();
    },
    tick: () => {
      tick();
      return nextTask();
    },
  };
}

test('[Y-4] the node that created a rehearsal starts its viewers once and issues their tokens', async () => {
  const { rehearsals, commands, emit } = setUp(() => 'running');
  rehearsals.run({ ...ROW, node: 'elsewhere' });
  rehearsals.run({ ...ROW, ended: 4 });
  expect(commands).toEqual([]);
  rehearsals.run(ROW);
  rehearsals.run(ROW);
  const address = { hostname: '127.0.0.1', port: 4250 };
  const { streamId, settings } = ROW;
  expect(commands).toEqual([{ kind: 'start', ...address, streamId, settings }]);
  await emit({ kind: 'token-request', identifier: 'one' });
  expect(commands.at(-1)).toEqual({ kind: 'token', identifier: 'one', token: 'hidden one' });
  await emit({ kind: 'token-request', identifier: 'banned' });
  expect(commands.at(-1)).toEqual({ kind: 'token', identifier: 'banned', token: null });
  rehearsals.stop();
});

test('[Y-6] [Y-8] results are saved each second, and once more after the show is over', async () => {
  let outcome: ReportOutcome = 'running';
  const { rehearsals, reports, commands, emit, tick, stopped } = setUp(() => outcome);
  rehearsals.run(ROW);
  await tick();
  await emit({ kind: 'figures', figures: FIGURES, isLast: false });
  await tick();
  expect(reports.map(({ figures, isLast }) => [figures, isLast])).toEqual([
    [null, false],
    [FIGURES, false],
  ]);
  outcome = 'over';
  await tick();
  await tick();
  expect(commands.filter(({ kind }) => kind === 'finish')).toHaveLength(1);
  expect(stopped()).toBe(0);
  await emit({ kind: 'figures', figures: { ...FIGURES, checks: 9 }, isLast: true });
  expect(reports.at(-1)).toMatchObject({ isLast: true, figures: { checks: 9 } });
  expect(stopped()).toBe(1);
  expect([...rehearsals.metrics].flatMap((metric) => [...metric.read()])).toEqual([[0]]);
});

test('[Y-10] viewers end at once when the rehearsal is dismissed', async () => {
  const { rehearsals, reports, tick, stopped } = setUp(() => 'gone');
  rehearsals.run(ROW);
  await tick();
  expect(stopped()).toBe(1);
  rehearsals.run(ROW);
  rehearsals.dismiss(ROW.streamId);
  expect(stopped()).toBe(2);
  await tick();
  expect(reports).toHaveLength(1);
});

test('[Y-8] an unavailable database ends no rehearsal; a failed thread ends its own', async () => {
  const { rehearsals, emit, tick, stopped } = setUp(() => {
    throw new Unavailable('The database is unavailable.');
  });
  rehearsals.run(ROW);
  await tick();
  expect(stopped()).toBe(0);
  await emit({ kind: 'failed', reason: 'no memory' });
  expect(stopped()).toBe(1);
});

test('[Y-8] the last results are saved again until the database is available, for a minute', async () => {
  let failures = 1;
  const { rehearsals, reports, emit } = setUp(() => {
    if (failures-- > 0) throw new Unavailable('The database is unavailable.');
    return 'over';
  });
  const endRehearsal = async () => {
    reports.length = 0;
    rehearsals.run(ROW);
    await emit({ kind: 'figures', figures: FIGURES, isLast: true });
    return reports.map(({ figures, isLast }) => [figures, isLast]);
  };
  expect(await endRehearsal()).toEqual(Array(2).fill([FIGURES, true]));
  failures = 1_000;
  expect(await endRehearsal()).toHaveLength(60);
});

test('[Y-8] the last results are saved once when the error is not that of an unavailable database', async () => {
  const { rehearsals, reports, emit } = setUp(() => {
    throw new Error('no such table');
  });
  rehearsals.run(ROW);
  await emit({ kind: 'figures', figures: FIGURES, isLast: true });
  expect(reports).toHaveLength(1);
});
