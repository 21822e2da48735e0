import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Rehearsal } from '../../protocol/rehearsal.ts';
import type {
  CrowdThreadCommand,
  CrowdThreadEvent,
} from '../../server/domains/rehearsals/crowd-messages.ts';
import { IS_FULL_RUN, SOME_BACKENDS } from '../support/full-run.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { RehearsalFixture } from '../support/rehearsals/rehearsal-fixture.ts';

// Rehearsals with simulated viewers, whose results are compared with the database. In
// `npm run test:full` also on PostgreSQL and Redis.

describe.each(SOME_BACKENDS)('the viewers of a rehearsal on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends, clock: 'real' });
  }, 30_000);
  afterAll(() => service.close());

  test.concurrent('[Y-4] [Y-6] [Y-7] [Y-8] simulated viewers join, answer, and see as many answers as are recorded', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 3_000 });
    const { streamId } = await fixture.start({ viewers: 40 });
    await fixture.waitFor(({ crowd }) => (crowd?.present ?? 0) > 36);
    const { counts } = await fixture.playQuiz(streamId, 0);
    const sum = Object.values(counts ?? {}).reduce((total, { count }) => total + count, 0);
    await service.studio('POST', `/streams/${streamId}/end`);
    const { crowd, ended } = await fixture.waitFor(({ state }) => state === 'over');
    expect(crowd?.mismatch).toBeNull();
    expect(crowd?.checks).toBeGreaterThan(100);
    expect(crowd?.requests).toBeGreaterThan(400);
    expect(crowd?.lost).toBe(0);
    expect(crowd?.answers.acknowledged).toBe(await fixture.countRecordedAnswers(streamId));
    expect(crowd?.answers.acknowledged).toBe(sum);
    expect(sum).toBeGreaterThan(20);
    expect(crowd?.quizzes).toEqual([
      {
        id: expect.any(String),
        question: 'Which planet is the largest?',
        acknowledged: sum,
        refusedLate: crowd?.answers.refusedLate ?? -1,
        counted: sum,
      },
    ]);
    expect(ended).toBeGreaterThan(0);
    // The viewers have left, so the count drops to 0.
    const viewer = await service.viewer(streamId);
    const count = async (): Promise<number> => {
      const response = await viewer.get(`/api/v1/view-counts/${streamId}`);
      return (await expectJson<{ value: number }>(response, 200)).value;
    };
    for (let tries = 0; tries < 30 && (await count()) > 0; tries++) await Bun.sleep(100);
    expect(await count()).toBe(0);
  }, 30_000);

  test.concurrent('[Y-5] [Y-7] late answers of simulated viewers are all rejected', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 1_000 });
    const { streamId } = await fixture.start({ viewers: 20, lateShare: 1 });
    await fixture.waitFor(({ crowd }) => (crowd?.present ?? 0) > 18);
    await fixture.playQuiz(streamId, 0);
    const { crowd } = await fixture.waitFor(
      ({ crowd: now }) => (now?.answers.refusedLate ?? 0) > 10,
    );
    expect(crowd?.answers.acknowledged).toBe(0);
    expect(crowd?.quizzes[0]).toMatchObject({ acknowledged: 0, counted: 0 });
    expect(await fixture.countRecordedAnswers(streamId)).toBe(0);
    expect(crowd?.mismatch).toBeNull();
    await fixture.end();
  }, 30_000);

  test('[Y-5] [W-4] simulated viewers whose video lags 2 s report their wins in time', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 8_000 });
    const { streamId } = await fixture.start({ viewers: 40, latencyMs: 2_000 });
    await fixture.waitFor(({ crowd }) => (crowd?.present ?? 0) > 36);
    const { counts, answer } = await fixture.playQuiz(streamId, 0);
    expect(counts?.[answer]?.count).toBeGreaterThan(5);
    const asked = await service.studio('POST', `/streams/${streamId}/request-winners`);
    expect(asked.ok).toBe(true);
    // The round takes 1 s; later reports would be refused.
    await Bun.sleep(2_500);
    const winners = await service.studio('GET', `/streams/${streamId}/exports/winners`);
    expect((await winners.text()).split('\n').filter(Boolean).length).toBeGreaterThan(3);
    expect((await fixture.waitFor(() => true)).crowd?.mismatch).toBeNull();
    await fixture.end();
  }, 30_000);

  test.concurrent('[Y-5] [Y-7] simulated bots answer at once, and retry lost answers, which count once', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 5_000 });
    const { streamId } = await fixture.start({ viewers: 30, botShare: 1, lossShare: 0.3 });
    await fixture.waitFor(({ crowd }) => (crowd?.present ?? 0) > 27);
    await fixture.playQuiz(streamId, 0);
    const recorded = await fixture.countRecordedAnswers(streamId);
    expect(recorded).toBeGreaterThan(15);
    // An answer whose acknowledgment was lost is repeated and acknowledged also after the close.
    const { crowd } = await fixture.waitFor(({ crowd: now }) => {
      const { acknowledged, unknown } = now?.answers ?? { acknowledged: 0, unknown: 0 };
      return acknowledged + unknown >= recorded && now?.quizzes[0]?.counted === recorded;
    });
    expect(crowd?.answers.acknowledged).toBeLessThanOrEqual(recorded);
    expect(crowd?.lost).toBeGreaterThan(20);
    expect(crowd?.mismatch).toBeNull();
    await fixture.end();
  }, 30_000);

  test.concurrent('[Y-7] a simulated viewer leaves when banned, without a mismatch', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const { streamId } = await fixture.start({ viewers: 25 });
    const chat = `/streams/${streamId}/chat`;
    const readLog = async () => {
      const response = await service.studio('GET', chat);
      return (await expectJson<{ results: { viewer: string }[] }>(response, 200)).results;
    };
    const rehearsal = await fixture.waitFor(({ crowd }) => (crowd?.present ?? 0) > 20);
    for (let tries = 0; tries < 100 && (await readLog()).length === 0; tries++)
      await Bun.sleep(100);
    const viewer = (await readLog())[0]?.viewer;
    const ban = await service.studio('POST', `/streams/${streamId}/banned/${viewer}`, {});
    expect(ban.status).toBe(201);
    const before = rehearsal.crowd?.checks ?? 0;
    // Counts are checked for some more seconds; a mismatch would be reported by then.
    await Bun.sleep(4_000);
    const { crowd } = await fixture.waitFor(({ crowd: now }) => (now?.checks ?? 0) > before + 50);
    expect(crowd?.mismatch).toBeNull();
    await fixture.end();
  }, 30_000);
});

if (IS_FULL_RUN) {
  test.concurrent('[Y-6] [Y-10] any node reports and ends a rehearsal', async () => {
    const first = await startService({ backends: 'shared', clock: 'real' });
    const options = { backends: 'shared', directory: first.directory, clock: 'real' } as const;
    const second = await startService(options);
    const init = { token: first.account.token };
    const rehearsalCount = () => {
      const named = first.service.stats.additional.find(
        ({ name }) => name === 'fourbeat_rehearsals',
      );
      return [...(named?.read() ?? [])][0]?.[0];
    };
    try {
      const fixture = await RehearsalFixture.forNewShow(first);
      await fixture.start({ viewers: 5 });
      await fixture.waitFor(({ crowd }) => crowd !== null);
      const path = `/streams/${fixture.showId}/rehearsals/current`;
      const read = await second.studio('GET', path, undefined, init);
      expect(await expectJson<Rehearsal>(read, 200)).toMatchObject({
        state: 'running',
        crowd: { requests: expect.any(Number) },
      });
      expect(rehearsalCount()).toBe(1);
      expect((await second.studio('DELETE', path, undefined, init)).status).toBe(204);
      for (let tries = 0; tries < 30 && rehearsalCount() !== 0; tries++) await Bun.sleep(100);
      expect(rehearsalCount()).toBe(0);
    } finally {
      await second.close();
      await first.close();
    }
  }, 30_000);
}

test.concurrent('[Y-8] the viewers of a rehearsal stop also if the show ends before they join', async () => {
  const service = await startService({ clock: 'real' });
  const thread = new Worker(
    new URL('../../server/domains/rehearsals/crowd-thread.ts', import.meta.url).href,
  );
  const send = (message: CrowdThreadCommand) => thread.postMessage(message);
  try {
    const streamId = await service.createStream();
    const settings = { viewers: 3, latencyMs: 0, lossShare: 0, botShare: 0, lateShare: 0 };
    const over = new Promise((resolve) => {
      thread.onmessage = ({ data }: MessageEvent<CrowdThreadEvent>) => {
        if (data.kind === 'figures' && data.isLast) resolve('over');
      };
    });
    const { hostname, port } = new URL(service.url);
    send({ kind: 'start', hostname, port: Number(port), streamId, settings });
    send({ kind: 'finish' });
    expect(await over).toBe('over');
  } finally {
    thread.terminate();
    await service.close();
  }
}, 10_000);
