import { describe, expect, test } from 'bun:test';
import { CORE_USE, type Costs, needOf } from './model.ts';

const COSTS: Costs = {
  heartbeatUs: 6,
  feedReadUs: 7,
  pushMessageUs: 5,
  answerUs: 20,
  tokenUs: 100,
  answerRowsPerCoreS: 100_000,
  bitsetUs: 50,
  bitsetByteUs: 0.002,
  viewerBytes: 1_000,
  feedReadBytes: 1_000,
  pushMessageBytes: 700,
  heartbeatBytes: 500,
};
const SHOW = { viewers: 100_000, way: 'polling', answering: 0, quizS: 10 } as const;

describe('what a show needs', () => {
  test('a viewer who polls is a heartbeat and four reads a second, and a token in nine minutes', () => {
    const { cores, originRequestsS, cdnMillionsH } = needOf(SHOW, COSTS);
    expect(cores).toBeCloseTo((100_000 * (6 + 4 * 7 + 100 / 540)) / 1e6 / CORE_USE);
    expect(originRequestsS).toBeCloseTo(100_000 * (5 + 1 / 540));
    expect(cdnMillionsH).toBe(0);
  });

  test('with caches in front only heartbeats, tokens and answers reach nodes', () => {
    const { originRequestsS, cdnMillionsH } = needOf({ ...SHOW, way: 'cdn' }, COSTS);
    expect(originRequestsS).toBeCloseTo(100_000 * (1 + 1 / 540));
    expect(cdnMillionsH).toBeCloseTo(1_440);
  });

  test('twice the viewers need twice the cores, and answers need more', () => {
    const { cores } = needOf(SHOW, COSTS);
    expect(needOf({ ...SHOW, viewers: 200_000 }, COSTS).cores).toBeCloseTo(2 * cores);
    expect(needOf({ ...SHOW, answering: 1 }, COSTS).cores).toBeCloseTo(cores + 0.2 / CORE_USE);
  });

  test('one node needs neither Redis nor PostgreSQL', () => {
    const small = needOf({ ...SHOW, viewers: 10_000, answering: 0.8 }, COSTS);
    expect(small).toMatchObject({ nodes: 1, redisCores: 0, postgresCores: 0 });
    const large = needOf({ ...SHOW, viewers: 1_000_000, answering: 0.8 }, COSTS);
    expect(large.redisCores).toBeGreaterThan(0);
    expect(large.postgresCores).toBeCloseTo(0.8);
  });
});
