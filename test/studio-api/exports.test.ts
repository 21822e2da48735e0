import { describe, expect, spyOn, test } from 'bun:test';
import { connect } from 'node:net';
import { decodeJwt } from 'jose';
import type { Store } from '../../server/app/procedures.ts';
import { EXPORT_BYTES, LargeResponses } from '../../server/auth/large-responses.ts';
import { RateLimited } from '../../server/platform/errors.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, QUIZ, startService, type TestViewer } from '../support/harness/harness.ts';

const service = await serviceOfFile();

const exported = (streamId: string, what: string, query = '') =>
  service.studio('GET', `/streams/${streamId}/exports/${what}${query}`);
const linesOf = async (response: Response): Promise<Record<string, unknown>[]> => {
  const lines = (await response.text()).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
};
const subOf = ({ token }: TestViewer) => decodeJwt(token).sub;
const seatOf = ({ token }: TestViewer) => Number(decodeJwt(token).seat);

/** A stream in which three viewers answered a quiz and one of them won. */
async function playShow() {
  const streamId = await service.createStream();
  const viewers = await Promise.all([0, 1, 2].map(() => service.viewer(streamId)));
  viewers.sort((a, b) => seatOf(a) - seatOf(b));
  const from = service.interval();
  const quiz = await service.publishQuiz(streamId);
  const at = service.clock.nowMs();
  for (const [seat, choice] of ['Jupiter', 'Mars', 'Jupiter'].entries()) {
    expect((await answer(viewers[seat] as TestViewer, quiz, choice)).status).toBe(204);
  }
  await service.advance(quiz.closeInterval - service.interval() + 1);
  const requested = await service.studio('POST', `/streams/${streamId}/request-winners`);
  const round = await expectJson<{ id: string }>(requested, 201);
  const wonAt = service.clock.nowMs();
  const won = await viewers[2]?.post(`/api/v1/quizzes/${streamId}/record-winner`);
  expect(won?.status).toBe(204);
  await service.advance(5);
  return { streamId, viewers, from, quiz, at, round, wonAt };
}

describe('rows of an export', () => {
  test('[P-28] exported answers name the question and the time in words beside ids', async () => {
    const { streamId, viewers, quiz, at } = await playShow();
    const rows = await linesOf(await exported(streamId, 'answers'));
    expect(rows).toEqual(
      ['Jupiter', 'Mars', 'Jupiter'].map((choice, seat) => ({
        quizId: quiz.id,
        viewer: subOf(viewers[seat] as TestViewer),
        seat,
        choice,
        correct: choice === 'Jupiter',
        at,
        question: QUIZ.question,
        time: new Date(at).toISOString(),
      })),
    );
    const csv = await (await exported(streamId, 'answers', '?format=csv')).text();
    const records = rows.map((row) => `${Object.values(row).join(',')}\r\n`);
    expect(csv).toBe(`quizId,viewer,seat,choice,correct,at,question,time\r\n${records.join('')}`);
  });

  test('[P-28] exported winners have ids, round, name, code and questions', async () => {
    const { streamId, viewers, round, wonAt } = await playShow();
    const winner = viewers[2] as TestViewer;
    const viewer = subOf(winner);
    const detail = await winner.get(`/api/v1/streams/${streamId}/`);
    const { winner_code: code } = await expectJson<{ winner_code: string }>(detail, 200);
    const time = new Date(wonAt).toISOString();
    const rows = await linesOf(await exported(streamId, 'winners'));
    const ids = { roundId: round.id, viewer, seat: 2, at: wonAt };
    const words = { round: 1, name: null, code, questions: QUIZ.question, time };
    expect(rows).toEqual([{ ...ids, ...words }]);
    const csv = await (await exported(streamId, 'winners', '?format=csv')).text();
    const records = [
      'roundId,viewer,seat,at,round,name,code,questions,time',
      `${round.id},${viewer},2,${wonAt},1,,${code},${QUIZ.question},${time}`,
      '',
    ];
    expect(csv).toBe(records.join('\r\n'));
  });

  test('[L-17] an export of results counts the texts of closed quizzes, which it keeps to its end', async () => {
    const { streamId } = await playShow();
    await expectJson(await service.studio('POST', `/streams/${streamId}/quizzes`, QUIZ), 201);
    const body = spyOn(LargeResponses.prototype, 'body');
    expect(await linesOf(await exported(streamId, 'results'))).toHaveLength(QUIZ.choices.length);
    const keptBytes = 2 * [QUIZ.question, ...QUIZ.choices].join('').length;
    expect(body.mock.calls.map(([, , bytes]) => bytes)).toEqual([EXPORT_BYTES + keptBytes]);
    body.mockRestore();
  });

  test.each(['results', 'quizzes'])(
    '[L-17] an export of %s is refused when too much is unread once it has been read',
    async (what) => {
      const streamId = await service.createStream();
      let checks = 0;
      const check = spyOn(LargeResponses.prototype, 'checkLarge').mockImplementation(() => {
        if (++checks === 2) throw new RateLimited('Read the large responses first.', 1);
      });
      const { status } = await exported(streamId, what);
      check.mockRestore();
      expect(status).toBe(429);
      expect((await exported(streamId, what)).status).toBe(200);
    },
  );

  test('[P-29] the exported feed is the bodies that viewers got, in order, without empty ones', async () => {
    const { streamId, viewers, from } = await playShow();
    const bodies: string[] = [];
    for (let interval = from; interval < service.interval(); interval++) {
      const path = `/api/v1/events-streams/${streamId}?interval=${interval}`;
      const response = await viewers[0]?.get(path);
      const body = (await response?.text()) ?? '';
      if (!body.endsWith('"events":[]}')) bodies.push(`${body}\n`);
    }
    expect(bodies.length).toBeGreaterThanOrEqual(4);
    expect(await (await exported(streamId, 'feed')).text()).toBe(bodies.join(''));
    const events = bodies.flatMap((body) => JSON.parse(body).events);
    const csv = await (await exported(streamId, 'feed', '?format=csv')).text();
    const records = csv.split('\r\n');
    expect(records[0]).toBe('interval,type,data');
    expect(records.slice(1, -1).map((record) => record.split(',')[1])).toEqual(
      events.map(({ type }) => type),
    );
  });

  test('an export contains rows of its stream only', async () => {
    await playShow();
    const streamId = await service.createStream();
    await service.publishQuiz(streamId);
    expect(await linesOf(await exported(streamId, 'answers'))).toEqual([]);
    expect(await linesOf(await exported(streamId, 'winners'))).toEqual([]);
    expect(await linesOf(await exported(streamId, 'feed'))).toEqual([]);
  });
});

describe('the format of an export', () => {
  test('[P-27] an export is NDJSON or, by `format`, CSV, and has a file name', async () => {
    const streamId = await service.createStream();
    for (const what of ['answers', 'winners', 'feed']) {
      for (const [query, type, ending] of [
        ['', 'application/x-ndjson', 'ndjson'],
        ['?format=ndjson', 'application/x-ndjson', 'ndjson'],
        ['?format=csv', 'text/csv; charset=utf-8', 'csv'],
      ] as const) {
        const response = await exported(streamId, what, query);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe(type);
        expect(response.headers.get('content-disposition')).toMatch(
          new RegExp(
            `^attachment; filename="(?:[a-z0-9-]+-)?\\d{4}-\\d\\d-\\d\\d-${what}\\.${ending}"$`,
          ),
        );
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
        expect(response.headers.get('x-request-id')).not.toBeNull();
        await response.text();
      }
    }
  });

  test.each(['?format=xml', '?format=', '?format=CSV', '?format=csv&format=csv', '?format=%zz'])(
    '[P-27] [G-24] an export with the query %s gets 400',
    async (query) => {
      const streamId = await service.createStream();
      for (const what of ['answers', 'winners', 'feed']) {
        expect((await exported(streamId, what, query)).status).toBe(400);
      }
    },
  );

  test('[G-7] [G-12] an export ignores unknown parameters; unknown exports get 404', async () => {
    const streamId = await service.createStream();
    expect((await exported(streamId, 'answers', '?colour=red')).status).toBe(200);
    expect((await exported(streamId, 'viewers')).status).toBe(404);
  });

  test('[G-9] HEAD of an export has headers and no body', async () => {
    const { streamId } = await playShow();
    const path = `/streams/${streamId}/exports/answers?format=csv`;
    const head = await service.studio('HEAD', path);
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(await head.text()).toBe('');
  });
});

describe('a long export', () => {
  const SEATS = 2_500;

  /** Starts a service with a show that has more answers than fit on two pages of an export. */
  async function longShow(store?: (store: Store) => Store) {
    const long = await startService(store && { store });
    const streamId = await long.createStream();
    const { first } = await long.store.leaseSeats({ streamId, count: SEATS + 1 });
    const seats = await long.store.takeSeats(
      Array.from({ length: SEATS + 1 }, (_, n) => {
        return { streamId, viewer: `viewer-${n}`, seat: first + n };
      }),
    );
    const published = await long.publishQuiz(streamId);
    const [quiz = null] = await long.store.findPublishedQuizzes([published.id]);
    if (!quiz) throw new Error('the quiz is not published');
    const answers = seats.map((_, n) => ({
      quiz: quiz.number,
      created: quiz.created,
      seat: first + n,
      choice: n % 3,
      receivedMs: long.clock.nowMs(),
    }));
    const last = answers.pop();
    if (!last) throw new Error('no answers');
    await long.store.recordAnswers(answers);
    return { long, streamId, last, [Symbol.asyncDispose]: () => long.close() };
  }

  test('[P-27] a long export ends with the answers that were recorded at its start', async () => {
    let pages = 0;
    let between = async () => {};
    await using show = await longShow((store) => ({
      ...store,
      async exportAnswers(page) {
        pages += 1;
        if (pages === 2) await between();
        return store.exportAnswers(page);
      },
    }));
    const { long, streamId, last } = show;
    between = async () => {
      await long.advance(1);
      const [decision] = await long.store.recordAnswers([
        { ...last, receivedMs: long.clock.nowMs() },
      ]);
      expect(decision).toBe('accepted');
    };
    const response = await long.studio('GET', `/streams/${streamId}/exports/answers`);
    const rows = await linesOf(response);
    expect(pages).toBe(3);
    expect(rows.map(({ seat }) => seat)).toEqual(Array.from({ length: SEATS }, (_, n) => n));
    const again = await linesOf(await long.studio('GET', `/streams/${streamId}/exports/answers`));
    expect(again).toHaveLength(SEATS + 1);
  });

  test('a long export breaks the connection when a page cannot be read', async () => {
    await using show = await longShow((store) => ({
      ...store,
      async exportAnswers(page) {
        if (page.afterSeat >= 0) throw new Error('the disk is gone');
        return store.exportAnswers(page);
      },
    }));
    const { long, streamId } = show;
    const response = await long.studio('GET', `/streams/${streamId}/exports/answers`);
    expect(response.status).toBe(200);
    const text = await response.text().catch((error: Error) => error);
    expect(text).toBeInstanceOf(Error);
    expect((await long.studio('GET', '/account')).status).toBe(200);
  });

  test('a long export reads pages as the client consumes them, and stops when the client leaves', async () => {
    let pages = 0;
    const wide = 'x'.repeat(200);
    await using show = await longShow((store) => ({
      ...store,
      // This export is endless: only the client's pace limits how much is read.
      async exportAnswers(page) {
        pages += 1;
        const row = {
          quizId: wide,
          viewer: wide,
          choice: wide,
          correct: true,
          at: 0,
          question: '',
        };
        return Array.from({ length: page.limit }, (_, n) => ({
          ...row,
          seat: page.afterSeat + n + 1,
        }));
      },
    }));
    const { long, streamId } = show;
    const socket = connect(Number(new URL(long.url).port), '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.pause();
    socket.write(
      `GET /studio/v1/streams/${streamId}/exports/answers HTTP/1.1\r\nHost: localhost\r\n` +
        `Authorization: Token ${long.account.token}\r\n\r\n`,
    );
    // The buffers of the connection take some pages; then reading stops.
    let before = -1;
    while (pages !== before || pages === 0) {
      before = pages;
      await Bun.sleep(100);
    }
    const stalled = pages;
    socket.destroy();
    await closed;
    await Bun.sleep(100);
    expect(pages).toBeLessThanOrEqual(stalled + 1);
  });
});
