import { describe, expect, test } from 'bun:test';
import { type Costs, needOf, TARGET_UTILIZATION } from './model.ts';

const COSTS: Costs = {
  requestUs: 7,
  messageUs: 5,
  answerUs: 20,
  tokenUs: 100,
  answerRowsPerCoreSecond: 100_000,
  postgresMsPerS: 10,
  redisCommandsPerS: 18,
  bitsetUs: 50,
  bitsetByteUs: 0.002,
  pollingBytes: 1_000,
  streamBytes: 8_000,
  readBytes: 1_000,
  messageBytes: 700,
  heartbeatBytes: 500,
};
const SHOW = { viewers: 100_000, delivery: 'polling', answeringShare: 0, quizS: 10 } as const;

describe('the needs of a show', () => {
  test('a polling viewer costs a heartbeat and four reads a second, and a token every nine minutes', () => {
    const { cores, originRequestsPerS, cdnMillionsPerH } = needOf(SHOW, COSTS);
    expect(cores).toBeCloseTo((100_000 * (5 * 7 + 100 / 540)) / 1e6 / TARGET_UTILIZATION);
    expect(originRequestsPerS).toBeCloseTo(100_000 * (5 + 1 / 540));
    expect(cdnMillionsPerH).toBe(0);
  });

  test('a viewer with an event stream costs a heartbeat and four messages a second', () => {
    const { cores, originRequestsPerS, memoryGB } = needOf({ ...SHOW, delivery: 'push' }, COSTS);
    expect(cores).toBeCloseTo((100_000 * (7 + 4 * 5 + 100 / 540)) / 1e6 / TARGET_UTILIZATION);
    expect(originRequestsPerS).toBeCloseTo(100_000 * (1 + 1 / 540));
    expect(memoryGB).toBeCloseTo(0.1 + 0.8);
  });

  test('behind a CDN only heartbeats, tokens and answers reach nodes', () => {
    const need = needOf({ ...SHOW, delivery: 'cdn' }, COSTS);
    expect(need.originRequestsPerS).toBeCloseTo(100_000 * (1 + 1 / 540));
    expect(need.cdnMillionsPerH).toBeCloseTo(1_440);
    expect(need.sentByNodesGBPerH).toBeCloseTo(180);
    expect(need.sentByCdnGBPerH).toBeCloseTo(1_440);
  });

  test('without a CDN nodes send everything', () => {
    const { sentByNodesGBPerH, sentByCdnGBPerH } = needOf(SHOW, COSTS);
    expect(sentByNodesGBPerH).toBeCloseTo(180 + 1_440);
    expect(sentByCdnGBPerH).toBe(0);
  });

  test('cores are proportional to viewers, and answers need more', () => {
    const { cores } = needOf(SHOW, COSTS);
    expect(needOf({ ...SHOW, viewers: 200_000 }, COSTS).cores).toBeCloseTo(2 * cores);
    expect(needOf({ ...SHOW, answeringShare: 1 }, COSTS).cores).toBeCloseTo(
      cores + 0.2 / TARGET_UTILIZATION,
    );
  });

  test('one node needs neither Redis nor PostgreSQL', () => {
    const small = needOf({ ...SHOW, viewers: 10_000, answeringShare: 0.8 }, COSTS);
    const none = { redisCores: 0, redisCommandsPerS: 0, redisMBPerS: 0, postgresCores: 0 };
    expect(small).toMatchObject({ nodes: 1, ...none });
    const large = needOf({ ...SHOW, viewers: 1_000_000, answeringShare: 0.8 }, COSTS);
    expect(large.redisCores).toBeCloseTo((large.nodes * 4 * (50 + 125_000 * 0.002)) / 1e6);
    expect(large.redisCommandsPerS).toBe(large.nodes * 18);
    expect(large.redisMBPerS).toBeCloseTo(large.nodes * 0.5);
    expect(large.postgresCores).toBeCloseTo(0.81);
  });
});
