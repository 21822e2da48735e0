import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { intervalAt } from '../../../protocol/interval.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { IS_FULL_RUN } from '../../../test/support/full-run.ts';
import {
  openInPostgres,
  openInSqlite,
  PRODUCER,
  WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';
import type { Store } from '../../app/procedures.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { PublishedQuiz } from '../quizzes/quizzes-sql.ts';
import { ReportMaker } from './report-maker.ts';
import type { StoredReport } from './report-parts.ts';

/** Lease of a report. */
const LEASE_MS = 10_000;

let postgres: PostgresServer;
let databases = 0;
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false });
}, 30_000);
afterAll(() => postgres.stop());

const FIXTURES = [
  ['SQLite', openInSqlite],
  ['PostgreSQL', async () => openInPostgres(await postgres.createDatabase(`made_${++databases}`))],
] as const;

const QUIZ = {
  question: 'Which?',
  choices: ['1984', 'b'],
  answer: 'b',
  duration: 2_000,
  reveal: 'auto' as const,
};

describe.each(FIXTURES)('reports in %s', (database, open) => {
  let fixture: WebhookFixture;
  const opened = async () => {
    fixture = await WebhookFixture.on(await open());
    return fixture;
  };
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, producer: PRODUCER });
  const start = (id: string) => fixture.store.startStream({ ...own(id), nowMs: fixture.nowMs });
  const end = (id: string) =>
    fixture.store.endStream({ ...own(id), atMs: null, nowMs: fixture.nowMs });
  const read = (streamId: string) => fixture.store.readReport({ streamId, producer: PRODUCER });
  const isReady = async (streamId: string) => (await read(streamId)).text !== null;
  /** Its JSON, in the parts in which it is stored; null while it is not ready. */
  const partsOf = async (streamId: string) => {
    const { text } = await read(streamId);
    if (!text) return null;
    const parts = Array.from({ length: text.parts }, (_, part) =>
      fixture.store.readReportPart({ streamId, part, ...text }),
    );
    return Promise.all(parts);
  };
  const reportOf = async (streamId: string): Promise<StoredReport | null> => {
    const parts = await partsOf(streamId);
    return parts && JSON.parse(parts.join(''));
  };
  /** A node that makes reports; it calls `between` after each page. */
  const maker = (store: Store = fixture.store, between: () => Promise<void> = async () => {}) =>
    new ReportMaker({
      store,
      clock: { nowMs: () => fixture.nowMs },
      logger: pino({ level: 'silent' }),
      newId: () => crypto.randomUUID(),
      pause: between,
    });

  async function published(streamId: string): Promise<PublishedQuiz> {
    const id = crypto.randomUUID();
    await fixture.store.createQuiz({ ...own(id), streamId, quiz: QUIZ });
    await fixture.store.publishQuiz({ ...own(id), nowMs: fixture.nowMs });
    return (await fixture.store.findPublishedQuizzes([id]))[0] as PublishedQuiz;
  }

  /** Records one answer per viewer in the second from `fromMs` on; every third is right. */
  async function answer(quiz: PublishedQuiz, viewers: number, fromMs: number): Promise<void> {
    const answers = Array.from({ length: viewers }, (_, seat) => {
      const receivedMs = fromMs + (seat % 1_000);
      const choice = seat % 3 === 0 ? 1 : 0;
      return { quiz: quiz.number, created: quiz.created, seat, choice, receivedMs };
    });
    for (let at = 0; at < viewers; at += 1_000) {
      await fixture.store.recordAnswers(answers.slice(at, at + 1_000));
    }
  }

  /** A show of a minute with two quizzes and many answers. */
  async function playedShow(viewers = 5_000): Promise<string> {
    const id = await fixture.newStream();
    await start(id);
    await fixture.seal(40, { [id]: 3 });
    for (let n = 0; n < 2; n++) {
      const publishedMs = fixture.nowMs;
      const quiz = await published(id);
      await fixture.seal(1, { [id]: 8 });
      await answer(quiz, viewers, publishedMs + 500);
      await fixture.seal(20, { [id]: 8 });
    }
    await fixture.seal(178, { [id]: 5 });
    await end(id);
    return id;
  }

  async function shortShow(): Promise<string> {
    const id = await fixture.newStream();
    await start(id);
    await fixture.seal(4, { [id]: 3 });
    await end(id);
    return id;
  }

  describe('a report waits until', () => {
    const isMade = async (id: string) => {
      await maker().makeAll();
      return isReady(id);
    };
    /** Seals until the report is made. @returns the number of sealed intervals */
    const sealsUntilMade = async (id: string) => {
      for (let seals = 0; ; seals++) {
        if (await isMade(id)) return seals;
        expect(seals).toBeLessThan(30);
        await fixture.seal(1);
      }
    };

    test('[J-2] a report waits until the interval of the end is sealed', async () => {
      await opened();
      const id = await fixture.newStream();
      await end(id);
      expect(await sealsUntilMade(id)).toBe(1);
    });

    test('[J-2] a report waits until its quizzes have closed', async () => {
      await opened();
      const id = await fixture.newStream();
      await published(id);
      await fixture.seal(2);
      await end(id);
      // The quiz takes 8 intervals and closes when the next one is sealed.
      expect(await sealsUntilMade(id)).toBe(7);
      expect((await reportOf(id))?.quizzes).toHaveLength(1);
    });

    test('[J-2] a report waits until its winners are counted', async () => {
      await opened();
      const id = await fixture.newStream();
      const request = { id: crypto.randomUUID(), streamId: id, producer: PRODUCER };
      await fixture.store.requestWinners({ ...request, nowMs: fixture.nowMs });
      await end(id);
      expect(await sealsUntilMade(id)).toBe(5);
      expect((await reportOf(id))?.rounds).toMatchObject([{ id: request.id, count: 0 }]);
    });

    test('[J-2] [J-8] a report waits until its delayed purchases are sealed', async () => {
      await opened();
      const id = await fixture.newStream();
      for (let n = 0; n < 130; n++) {
        const event = { type: 'purchase' as const, data: { name: '', text: `mug ${n}` } };
        const sent = { streamId: id, producer: PRODUCER, event, nowMs: fixture.nowMs };
        await fixture.store.recordProducerEvent(sent);
      }
      await end(id);
      expect(await sealsUntilMade(id)).toBe(3);
      expect((await reportOf(id))?.chat.lines.purchase).toBe(130);
    });
  });

  test('[J-2] a finished report does not change and is not made again', async () => {
    await opened();
    const id = await playedShow(100);
    await fixture.seal(1);
    await maker().makeAll();
    const made = await reportOf(id);
    expect(made).not.toBeNull();
    fixture.nowMs += 3_600_000;
    await fixture.seal(4, { [id]: 50 });
    let pages = 0;
    const again = onEachPage(fixture.store, () => pages++);
    await maker(again).makeAll();
    expect(pages).toBe(0);
    expect(await reportOf(id)).toEqual(made);
  });

  test('[J-6] unique viewers are all seats with a token, watching or not', async () => {
    await opened();
    const id = await shortShow();
    const { first } = await fixture.store.leaseSeats({ streamId: id, count: 7 });
    const viewers = Array.from({ length: 5 }, (_, n) => `viewer-${n}`);
    await fixture.store.takeSeats(
      viewers.map((viewer, n) => ({ streamId: id, viewer, seat: first + n })),
    );
    await fixture.seal(1);
    await maker().makeAll();
    expect((await reportOf(id))?.uniqueViewers).toBe(5);
  });

  test('[J-3] concurrent nodes make each report once', async () => {
    await opened();
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push(await shortShow());
    await fixture.seal(1);
    let finished = 0;
    const nodes = [...fixture.nodes, ...fixture.nodes].map((store) =>
      maker({
        ...store,
        async finishReport(input) {
          const isOurs = await store.finishReport(input);
          finished += Number(isOurs);
          return isOurs;
        },
      }),
    );
    await Promise.all(nodes.map((node) => node.makeAll()));
    for (const id of ids) expect(await isReady(id)).toBe(true);
    expect(finished).toBe(12);
  });

  test('[J-3] another node continues the report of a dead node when its lease ends', async () => {
    await opened();
    const id = await playedShow();
    await fixture.seal(1);
    let pages = 0;
    const countingMaker = () => maker(onEachPage(fixture.store, () => pages++));
    await countingMaker().makeAll();
    const pageCount = pages;
    expect(pageCount).toBeGreaterThan(6);
    const { made: _, ...whole } = (await reportOf(id)) as StoredReport;
    await fixture.run('update reports set parts = null, due = $1', [fixture.nowMs]);
    pages = 0;
    let deaths = 0;
    while (!(await isReady(id))) {
      const last = pages + 3;
      const failing = onEachPage(fixture.store, () => {
        if (pages === last) throw new Unavailable('The node is dead.');
        pages++;
        fixture.nowMs += 2_000;
      });
      await maker(withoutPostponing(failing, () => pages === last)).makeAll();
      if (await isReady(id)) break;
      expect(++deaths).toBeLessThan(20);
      fixture.nowMs += LEASE_MS - 1;
      await countingMaker().makeAll();
      expect(pages).toBe(last);
      fixture.nowMs += 1;
    }
    expect(deaths).toBeGreaterThan(1);
    // Progress was saved after each page: nothing is counted twice.
    expect(pages).toBe(pageCount);
    expect(await reportOf(id)).toEqual({ ...whole, made: fixture.nowMs });
  });

  test('[J-3] a stalled node that lost its lease saves nothing', async () => {
    await opened();
    const id = await shortShow();
    await fixture.seal(1);
    let stalls = true;
    let storedReports = 0;
    const [one, two] = fixture.nodes;
    const stalled: Store = {
      ...one,
      finishReport: async (input) => {
        const isOurs = await one.finishReport(input);
        storedReports += Number(isOurs);
        return isOurs;
      },
    };
    await maker(stalled, async () => {
      if (!stalls) return;
      stalls = false;
      fixture.nowMs += LEASE_MS;
      await maker(two).makeAll();
      expect(await isReady(id)).toBe(true);
    }).makeAll();
    expect(stalls).toBe(false);
    expect(storedReports).toBe(0);
  });

  test('[J-3] a failing report is retried with growing delays, logged, and does not block others', async () => {
    await opened();
    const wrong = await shortShow();
    const right = await shortShow();
    await fixture.seal(1);
    let tries = 0;
    const store: Store = {
      ...fixture.store,
      readShow: async (input) => {
        if (input.streamId !== wrong) return fixture.store.readShow(input);
        tries++;
        throw new Error('a body is torn');
      },
    };
    const reports = maker(store);
    await reports.makeAll();
    expect(await isReady(right)).toBe(true);
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 80_000]) {
      const before = tries;
      fixture.nowMs += waitMs - 1;
      await reports.makeAll();
      expect(tries).toBe(before);
      fixture.nowMs += 1;
      await reports.makeAll();
      expect(tries).toBe(before + 1);
    }
    expect((await read(wrong)).tries).toBe(6);
    fixture.nowMs += 3_600_000;
    await maker().makeAll();
    expect(await isReady(wrong)).toBe(true);
  });

  /** An ended show with this many quizzes. @returns its id and the numbers of the quizzes */
  async function showWithQuizzes(count: number): Promise<{ id: string; numbers: number[] }> {
    const id = await fixture.newStream();
    await start(id);
    const numbers: number[] = [];
    while (numbers.length < count) numbers.push((await published(id)).number);
    await fixture.seal(20);
    await end(id);
    await fixture.seal(1);
    return { id, numbers };
  }

  test('[J-11] a report is stored in parts of 20 quizzes, and no call has the texts of more', async () => {
    await opened();
    const { id, numbers } = await showWithQuizzes(45);
    let textsMax = 0;
    const counting = <Input, Output>(call: (input: Input) => Promise<Output>) => {
      return async (input: Input) => {
        const output = await call(input);
        const json = JSON.stringify([input, output]);
        textsMax = Math.max(textsMax, json.split('Which?').length - 1);
        return output;
      };
    };
    const { readShow, readQuizResults, writeReportPart, finishReport } = fixture.store;
    await maker({
      ...fixture.store,
      readShow: counting(readShow),
      readQuizResults: counting(readQuizResults),
      writeReportPart: counting(writeReportPart),
      finishReport: counting(finishReport),
    }).makeAll();
    const parts = (await partsOf(id)) ?? [];
    expect(parts.map((part) => (part ?? '').split('Which?').length - 1)).toEqual([20, 20, 5]);
    expect(textsMax).toBe(20);
    const results = await fixture.store.readQuizResults({ numbers });
    const idOf = (number: number) => results.find((result) => result.number === number)?.id;
    expect((await reportOf(id))?.quizzes.map((quiz) => quiz.id)).toEqual(
      numbers.map((number) => idOf(number) as string),
    );
  });

  test('[J-3] another node writes the remaining parts of the report of a dead node', async () => {
    await opened();
    const { id } = await showWithQuizzes(45);
    const written: number[] = [];
    const dying: Store = {
      ...fixture.store,
      writeReportPart: async (input) => {
        if (input.part === 2) throw new Unavailable('The node is dead.');
        written.push(input.part);
        return fixture.store.writeReportPart(input);
      },
    };
    const isDead = () => written.length === 2;
    await maker(withoutPostponing(dying, isDead), async () => {
      if (written.length === 0) fixture.nowMs += 600;
    }).makeAll();
    expect(await isReady(id)).toBe(false);
    fixture.nowMs += LEASE_MS;
    await maker({
      ...fixture.store,
      writeReportPart: async (input) => {
        written.push(input.part);
        return fixture.store.writeReportPart(input);
      },
    }).makeAll();
    // The progress after the second part was not saved.
    expect(written).toEqual([0, 1, 1, 2]);
    const report = await reportOf(id);
    expect(report?.quizzes).toHaveLength(45);
    expect(report?.made).toBe(fixture.nowMs - LEASE_MS);
  });

  test('[S-19] [J-11] the parts of a report are not read with those of the report made after it', async () => {
    await opened();
    const { id } = await showWithQuizzes(25);
    await maker().makeAll();
    const { text } = await read(id);
    if (!text) throw new Error('the report is not ready');
    expect(text.parts).toBe(2);
    const readSecond = () => fixture.store.readReportPart({ streamId: id, part: 1, ...text });
    const second = await readSecond();
    await fixture.store.reopenStream({ ...own(id), nowMs: fixture.nowMs });
    expect(await readSecond()).toBe(second);
    await end(id);
    await fixture.seal(1);
    await maker().makeAll();
    expect(await readSecond()).toBeNull();
    expect((await reportOf(id))?.quizzes).toHaveLength(25);
  });

  test('[J-1] a report that an earlier version stored as one text stays readable', async () => {
    await opened();
    const { id } = await showWithQuizzes(2);
    await maker().makeAll();
    const report = await reportOf(id);
    const text = JSON.stringify(report);
    await fixture.run('update reports set parts = null, report = $1', [text]);
    await fixture.run('delete from report_parts');
    expect(await partsOf(id)).toEqual([text]);
  });

  // These depend on the report maker, not on the database.
  if (database === 'SQLite' || IS_FULL_RUN) {
    test('[J-3] a node that stops releases its report at once', async () => {
      await opened();
      const id = await playedShow();
      await fixture.seal(1);
      let pages = 0;
      const stopping: ReportMaker = maker(
        onEachPage(fixture.store, () => {
          if (++pages === 3) void stopping.stop();
        }),
      );
      await stopping.makeAll();
      expect(pages).toBe(3);
      const { done, text } = await read(id);
      expect(text).toBeNull();
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(1);
      await maker(onEachPage(fixture.nodes[1], () => pages++)).makeAll();
      expect(await isReady(id)).toBe(true);
    });

    test('[J-11] stored progress has a bounded size', async () => {
      await opened();
      const id = await fixture.newStream();
      await start(id);
      const long = { ...QUIZ, duration: 600_000 };
      const quizId = crypto.randomUUID();
      await fixture.store.createQuiz({ ...own(quizId), streamId: id, quiz: long });
      await fixture.store.publishQuiz({ ...own(quizId), nowMs: fixture.nowMs });
      const [quiz] = (await fixture.store.findPublishedQuizzes([quizId])) as [PublishedQuiz];
      const publishedMs = fixture.nowMs;
      await fixture.seal(1);
      for (let at = 0; at < 20_000; at += 1_000) {
        const answers = Array.from({ length: 1_000 }, (_, n) => {
          const receivedMs = publishedMs + (at + n) * 29;
          const { number, created } = quiz;
          return { quiz: number, created, seat: at + n, choice: 0, receivedMs };
        });
        await fixture.store.recordAnswers(answers);
      }
      await fixture.sealTo(intervalAt(publishedMs) + 2_500);
      await end(id);
      await fixture.seal(1);
      let bytes = 0;
      const store: Store = {
        ...fixture.store,
        saveReportProgress: (input) => {
          bytes = Math.max(bytes, JSON.stringify(input.progress).length);
          return fixture.store.saveReportProgress(input);
        },
      };
      await maker(store, async () => {
        fixture.nowMs += 2_000;
      }).makeAll();
      expect((await reportOf(id))?.quizzes[0]?.answered).toBe(20_000);
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(500_000);
    });
  }
});

/** A store that calls back before each page is read. */
function onEachPage(store: Store, onPage: () => void): Store {
  const withCallback =
    <Input, Output>(call: (input: Input) => Promise<Output>) =>
    async (input: Input) => {
      onPage();
      return call(input);
    };
  return {
    ...store,
    addIntervals: withCallback(store.addIntervals),
    addAnswers: withCallback(store.addAnswers),
    countViewers: withCallback(store.countViewers),
  };
}

/** A store in which a dead node cannot postpone a report. */
function withoutPostponing(store: Store, isDead: () => boolean): Store {
  return {
    ...store,
    postponeReport: async (input) => {
      if (isDead()) throw new Unavailable('The node is dead.');
      return store.postponeReport(input);
    },
  };
}
