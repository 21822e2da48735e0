import { expect, test } from 'bun:test';
import pino from 'pino';
import type { CrowdFigures } from '../../../protocol/rehearsal.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { FromCrowdThread, ToCrowdThread } from './crowd-messages.ts';
import { Rehearsals, type RehearsalsOptions } from './rehearsals.ts';
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

type Report = Parameters<RehearsalsOptions['store']['reportRehearsal']>[0];

/** A node with a thread that does what the test says, and a record that answers so. */
function setUp(outcome: () => ReportOutcome) {
  const reports: Report[] = [];
  const told: ToCrowdThread[] = [];
  let stopped = 0;
  let say: (message: FromCrowdThread) => void = () => {};
  let tick = () => {};
  const rehearsals = new Rehearsals({
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
    place: () => ({ hostname: '127.0.0.1', port: 4250 }),
    issueToken: async (streamId, identifier) => {
      if (identifier === 'banned') throw new Error('sent away');
      return `${streamId} ${identifier}`;
    },
    startThread: (onMessage) => {
      say = onMessage;
      return { tell: (message) => told.push(message), stop: () => stopped++ };
    },
    repeat: (next) => {
      tick = next;
      return () => {
        tick = () => {};
      };
    },
  });
  const turn = () => new Promise(setImmediate);
  return {
    rehearsals,
    reports,
    told,
    stopped: () => stopped,
    say: (message: FromCrowdThread) => {
      say(message);
      return turn();
    },
    tick: () => {
      tick();
      return turn();
    },
  };
}

test('[Y-4] viewers are sent by the node that took the call, once, and have their tokens from it', async () => {
  const { rehearsals, told, say } = setUp(() => 'running');
  rehearsals.send({ ...ROW, node: 'elsewhere' });
  rehearsals.send({ ...ROW, ended: 4 });
  expect(told).toEqual([]);
  rehearsals.send(ROW);
  rehearsals.send(ROW);
  const place = { hostname: '127.0.0.1', port: 4250 };
  const { streamId, settings } = ROW;
  expect(told).toEqual([{ kind: 'begin', ...place, streamId, settings }]);
  await say({ kind: 'token-please', identifier: 'one' });
  expect(told.at(-1)).toEqual({ kind: 'token', identifier: 'one', token: 'hidden one' });
  await say({ kind: 'token-please', identifier: 'banned' });
  expect(told.at(-1)).toEqual({ kind: 'token', identifier: 'banned', token: null });
  rehearsals.stop();
});

test('[Y-6] [Y-8] what they say is recorded, and when the show is over they say the last and go', async () => {
  let outcome: ReportOutcome = 'running';
  const { rehearsals, reports, told, say, tick, stopped } = setUp(() => outcome);
  rehearsals.send(ROW);
  await tick();
  await say({ kind: 'figures', figures: FIGURES, isLast: false });
  await tick();
  expect(reports.map(({ figures, isLast }) => [figures, isLast])).toEqual([
    [null, false],
    [FIGURES, false],
  ]);
  outcome = 'over';
  await tick();
  await tick();
  expect(told.filter(({ kind }) => kind === 'finish')).toHaveLength(1);
  expect(stopped()).toBe(0);
  await say({ kind: 'figures', figures: { ...FIGURES, checks: 9 }, isLast: true });
  expect(reports.at(-1)).toMatchObject({ isLast: true, figures: { checks: 9 } });
  expect(stopped()).toBe(1);
  expect([...rehearsals.readings].flatMap((one) => [...one.read()])).toEqual([[0]]);
});

test('[Y-10] they go at once when nobody wants them any more', async () => {
  const { rehearsals, reports, tick, stopped } = setUp(() => 'gone');
  rehearsals.send(ROW);
  await tick();
  expect(stopped()).toBe(1);
  rehearsals.send(ROW);
  rehearsals.dismissed(ROW.streamId);
  expect(stopped()).toBe(2);
  await tick();
  expect(reports).toHaveLength(1);
});

test('[Y-8] a record that is unavailable sends nobody home, and a thread that fails ends its own alone', async () => {
  const { rehearsals, say, tick, stopped } = setUp(() => {
    throw new Unavailable('The database is unavailable.');
  });
  rehearsals.send(ROW);
  await tick();
  expect(stopped()).toBe(0);
  await say({ kind: 'failed', reason: 'no memory' });
  expect(stopped()).toBe(1);
});
