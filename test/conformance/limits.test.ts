import { describe, expect, test } from 'bun:test';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import {
  REGISTRATION_MS,
  SEATS_MAX,
  TOKEN_LIFETIME_S,
  WINNERS_DELAY_INTERVALS,
} from '../../protocol/limits.ts';
import { type Config, createConfig, SETTING_KEYS } from '../../server/platform/config.ts';
import {
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { answer, readQuiz } from '../support/conformance/quiz-show.ts';
import { requestToken } from '../support/conformance/viewer-routes.ts';
import {
  expectJson,
  type Harness,
  QUIZ,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';

/** Runs `work` with its own service, since limits are counted by address. */
async function withService(config: Partial<Config>, work: (harness: Harness) => Promise<void>) {
  await using harness = await startService({ config });
  await work(harness);
}

/** High limits for everything except the given rates. */
const only = (rate: keyof Config['rates'], points: number, durationS = 60) => ({
  rates: { ...HIGH_RATES, [rate]: { points, durationS } },
});

async function expectTooMany(response: Response, longestS: number): Promise<void> {
  await expectProblem(response, 429);
  const seconds = response.headers.get('retry-after') ?? '';
  expect(seconds).toMatch(/^[1-9]\d*$/);
  expect(Number(seconds)).toBeWithin(1, longestS + 1);
}

interface QuizList {
  readonly results: readonly { readonly id: string }[];
}

/** An import of 500 quizzes, 0.9 MB. */
const IMPORT = {
  format: 'fourbeat-json',
  text: JSON.stringify(
    new Array(500).fill({
      question: 'q'.repeat(500),
      choices: ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(200)),
      answer: 'a'.repeat(200),
    }),
  ),
};

/** An import of 500 of the shortest quizzes, 22 KB. */
const TINY_IMPORT = {
  format: 'fourbeat-json',
  text: JSON.stringify(new Array(500).fill({ question: '?', choices: ['a', 'b'], answer: 'a' })),
};

const newToken = (harness: Harness, streamId: string) =>
  requestToken(harness.url, { stream_id: streamId, unique_user_identifier: 'a' });
const me = (harness: Harness, token: string, headers: Record<string, string> = {}) =>
  fetch(`${harness.url}/api/v1/users/me`, {
    headers: { Authorization: `Token ${token}`, ...headers },
  });
const heart = (viewer: TestViewer) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });

describe('rates', () => {
  test('[L-4] [L-5] [L-6] [L-7] [L-8] [L-15] [L-16] default rate limits match SPEC.md', async () => {
    const spec = await Bun.file(new URL('../../SPEC.md', import.meta.url)).text();
    const rateOf = (id: string) => {
      const rule = new RegExp(`- ${id}: [^.]*? ([\\d,]+) (?:requests )?(a minute|in 10 s)`);
      const [, points = '', time] = rule.exec(spec) ?? [];
      return { points: Number(points.replace(',', '')), durationS: time === 'a minute' ? 60 : 10 };
    };
    expect(createConfig().rates).toEqual({
      tokens: rateOf('L-4'),
      failedAuth: rateOf('L-5'),
      answers: rateOf('L-6'),
      chat: rateOf('L-7'),
      studio: rateOf('L-8'),
      signIn: rateOf('L-15'),
      passwords: rateOf('L-16'),
    });
    expect(rateOf('L-6').points).toBeGreaterThan(0);
  });

  test('[L-4] [L-9] [G-27] token requests over the rate of an address return 429', () =>
    withService(only('tokens', 3), async (harness) => {
      const stream = await harness.createStream();
      for (let i = 0; i < 3; i++) expect((await newToken(harness, stream)).status).toBe(200);
      for (let i = 0; i < 2; i++) await expectTooMany(await newToken(harness, stream), 60);
      // The rate is checked first, because the address is known at once (G-17).
      const nothing = await fetch(`${harness.url}/api/v1/token`, { method: 'POST' });
      await expectTooMany(nothing, 60);
    }));

  test('[L-5] over the rate of failed authentications further failures return 429 and valid credentials pass', () =>
    withService(only('failedAuth', 60), async (harness) => {
      const viewer = await harness.viewer(await harness.createStream());
      const path = `/api/v1/view-counts/${viewer.streamId}`;
      const wrong = { headers: { Authorization: 'Bearer x' } };
      for (let i = 0; i < 30; i++) await expectUnauthorized(await me(harness, 'fb_x'), 'Token');
      for (let i = 0; i < 30; i++) {
        await expectUnauthorized(await fetch(harness.url + path, wrong), 'Bearer');
      }
      await expectTooMany(await me(harness, 'fb_x'), 60);
      await expectTooMany(await fetch(harness.url + path, wrong), 60);
      const ended = { headers: { Cookie: `fourbeat=${'A'.repeat(43)}` } };
      await expectTooMany(await fetch(`${harness.url}/studio/v1/account`, ended), 60);
      // The page of the studio asks for the session before it shows the sign-in form.
      await expectUnauthorized(await fetch(`${harness.url}/studio/v1/session`), 'Token');
      await expectUnauthorized(await fetch(harness.url + path), 'Bearer');
      expect((await me(harness, harness.account.token)).status).toBe(200);
      await expectNoContent(await viewer.post(path));
      expect((await harness.studio('GET', '/account')).status).toBe(200);
    }));

  test('[L-5] [T-6] expired viewer tokens return 401 over the rate of failed authentications, and count none', () =>
    withService(only('failedAuth', 3), async (harness) => {
      const viewer = await harness.viewer(await harness.createStream());
      const path = `/api/v1/view-counts/${viewer.streamId}`;
      const wrong = { headers: { Authorization: 'Bearer x' } };
      harness.pass(600_000);
      for (let n = 0; n < 5; n++) {
        await expectUnauthorized(await viewer.post(path), 'Bearer');
        const stream = await viewer.get(`/api/v1/streams/${viewer.streamId}/`);
        expect(stream.status).toBe(401);
      }
      for (let n = 0; n < 3; n++) {
        await expectUnauthorized(await fetch(harness.url + path, wrong), 'Bearer');
      }
      await expectTooMany(await fetch(harness.url + path, wrong), 60);
      await expectUnauthorized(await viewer.post(path), 'Bearer');
    }));

  test('[L-5] a valid token of another stream does not count as a failed authentication', () =>
    withService(only('failedAuth', 2), async (harness) => {
      const viewer = await harness.viewer(await harness.createStream());
      const other = await harness.createStream();
      for (let i = 0; i < 5; i++) {
        const refused = await viewer.get(`/api/v1/view-counts/${other}`);
        await expectUnauthorized(refused, 'Bearer');
      }
    }));

  test('[L-6] [L-9] answers of a viewer beyond 30 in 10 s return 429 and are not recorded', () =>
    withService({}, async (harness) => {
      const stream = await harness.createStream();
      const [viewer, other] = [await harness.viewer(stream), await harness.viewer(stream)];
      const [first, second] = [
        await harness.publishQuiz(stream),
        await harness.publishQuiz(stream),
      ];
      for (let i = 0; i < 30; i++) await expectNoContent(await answer(viewer, first));
      await expectTooMany(await answer(viewer, second), 10);
      await expectTooMany(await answer(viewer, first), 10);
      await expectNoContent(await answer(other, first));
      await harness.advance(10);
      const quizzes = [await readQuiz(harness, first.id), await readQuiz(harness, second.id)];
      expect(quizzes.map(({ counts }) => counts?.[QUIZ.answer]?.count)).toEqual([2, 0]);
    }));

  test('[L-7] [L-9] chat posts of a viewer beyond 20 of all kinds in 10 s return 429 and are not published', () =>
    withService({}, async (harness) => {
      const stream = await harness.createStream();
      const [viewer, other] = [await harness.viewer(stream), await harness.viewer(stream)];
      const path = `/api/v1/events-streams/${stream}/chats`;
      for (let i = 0; i < 10; i++) {
        await expectNoContent(await heart(viewer));
        await expectNoContent(await viewer.post(path, { kind: 'cheer', text: 'x' }));
      }
      await expectTooMany(await heart(viewer), 10);
      await expectTooMany(await viewer.post(path, { kind: 'message', text: 'x' }), 10);
      await expectTooMany(await viewer.post(path, { kind: 'nonsense' }), 10);
      await expectNoContent(await heart(other));
      await harness.advance(1);
      const events = await harness.events(other, harness.interval() - 1);
      const chats = events.find(({ type }) => type === 'chats')?.data;
      expect(chats).toMatchObject({ hearts: 11, messages: [] });
    }));

  test('[L-7] all tokens and tabs of a viewer share one chat rate', () =>
    withService(only('chat', 2, 10), async (harness) => {
      const stream = await harness.createStream();
      const tabs = [await harness.viewer(stream, 'ada'), await harness.viewer(stream, 'ada')];
      for (const tab of tabs) await expectNoContent(await heart(tab));
      for (const tab of tabs) await expectTooMany(await heart(tab), 10);
    }));

  test('[L-8] [L-9] studio requests over the rate of an account return 429, and other accounts are unaffected', () =>
    withService(only('studio', 3), async (harness) => {
      const other = await harness.createAccount();
      const create = () => harness.studio('POST', '/streams', { title: 'x' });
      for (let i = 0; i < 3; i++) expect((await create()).status).toBe(201);
      for (let i = 0; i < 2; i++) await expectTooMany(await create(), 60);
      expect((await harness.studio('GET', '/account', undefined, other)).status).toBe(200);
      const url = `${harness.url}/api/v1/streams/?producer=${harness.account.uuid}`;
      const { count } = await expectJson<{ count: number }>(await fetch(url), 200);
      expect(count).toBe(3);
    }));

  test('[L-8] [L-9] a member uses up at most half of the studio requests of its account', () =>
    withService(only('studio', 20), async (harness) => {
      const { browser } = await newMember(harness, 'moderator');
      for (let i = 0; i < 10; i++) expect((await browser.send('GET', '/account')).status).toBe(200);
      await expectTooMany(await browser.send('GET', '/account'), 60);
      await expectTooMany(await browser.send('GET', '/session'), 60);
      const present = `/streams/${crypto.randomUUID()}/present`;
      await expectTooMany(await browser.send('GET', present), 60);
      expect((await harness.studio('GET', '/account')).status).toBe(200);
    }));

  test.each([
    ['imports over 32 MB', IMPORT],
    // Each quiz counts 4 KB.
    ['imports over 8,192 tiny quizzes', TINY_IMPORT],
  ])('[L-22] a member that %s gets 429, and its account goes on', (_, file) =>
    withService(only('studio', 200), async (harness) => {
      const { browser } = await newMember(harness, 'host');
      const streams: string[] = [];
      let response: Response;
      let imports = -1;
      do {
        imports++;
        if (imports % 4 === 0) streams.push(await harness.createStream());
        response = await browser.send('POST', `/streams/${streams.at(-1)}/quizzes/import`, file);
      } while (response.status === 201);
      // At 200 requests a minute a member gets back 8.5 KB a second.
      await expectTooMany(response, 240);
      // Each counts 2 MB.
      expect(imports).toBeWithin(15, 20);
      const path = `/streams/${streams.at(-1)}/quizzes`;
      const { results } = await expectJson<QuizList>(await harness.studio('GET', path), 200);
      expect(results).toHaveLength((imports % 4) * 500);
      expect((await browser.send('POST', `${path}/import/preview`, file)).status).toBe(200);
      expect((await harness.studio('POST', `${path}/import`, file)).status).toBe(201);
    }),
  );

  test('[L-22] a member that rehearses over 8,192 drafts gets 429, no rehearsal is created, and its account goes on', () =>
    withService(only('studio', 200), async (harness) => {
      const { browser } = await newMember(harness, 'host');
      const show = `/streams/${await harness.createStream()}`;
      for (let n = 0; n < 4; n++) {
        await expectJson(await harness.studio('POST', `${show}/quizzes/import`, TINY_IMPORT), 201);
      }
      const path = `${show}/rehearsals`;
      for (let n = 0; n < 4; n++) {
        await expectJson(await browser.send('POST', path, { viewers: 1 }), 201);
        await expectNoContent(await browser.send('DELETE', `${path}/current`));
      }
      await expectTooMany(await browser.send('POST', path, { viewers: 1 }), 960);
      expect((await browser.send('GET', `${path}/current`)).status).toBe(404);
      await expectJson(await harness.studio('POST', path, { viewers: 1 }), 201);
      await expectNoContent(await harness.studio('DELETE', `${path}/current`));
    }));

  test('[L-22] the rundowns in the responses to orders do not count', () =>
    withService(only('studio', 200), async (harness) => {
      const path = `/streams/${await harness.createStream()}`;
      for (let n = 0; n < 4; n++) await harness.studio('POST', `${path}/quizzes/import`, IMPORT);
      const listed = await harness.studio('GET', `${path}/quizzes`);
      const { results } = await expectJson<QuizList>(listed, 200);
      const order = results.map(({ id }) => id);
      for (let n = 0; n < 20; n++) {
        const ordered = await harness.studio('POST', `${path}/rundown`, { order });
        expect((await expectJson<QuizList>(ordered, 200)).results).toHaveLength(2_000);
      }
    }));

  test('[L-22] a member that moves long drafts again and again gets 429, and its account goes on', () =>
    withService(only('studio', 200), async (harness) => {
      const { browser } = await newMember(harness, 'host');
      const path = `/streams/${await harness.createStream()}`;
      const other = `/streams/${await harness.createStream()}`;
      // These use up most of the bytes of the member.
      for (const show of [path, path, path, path, other, other, other, other])
        await browser.send('POST', `${show}/quizzes/import`, IMPORT);
      const listed = await harness.studio('GET', `${path}/quizzes`);
      const order = (await expectJson<QuizList>(listed, 200)).results.map(({ id }) => id);
      let orders = 0;
      let response: Response;
      do {
        order.reverse();
        response = await browser.send('POST', `${path}/rundown`, { order });
        await response.bytes();
      } while (response.status === 200 && ++orders < 40);
      expect(response.status).toBe(429);
      expect(orders).toBeGreaterThan(1);
      expect((await harness.studio('POST', `${path}/rundown`, { order })).status).toBe(200);
    }));

  test('[L-22] copies that wait for those before them count too', () =>
    withService(only('studio', 200), async (harness) => {
      const { browser } = await newMember(harness, 'host');
      const path = `/streams/${await harness.createStream()}`;
      const other = `/streams/${await harness.createStream()}`;
      // These use up most of the bytes of the member.
      for (const show of [path, path, path, other, other, other, other])
        await browser.send('POST', `${show}/quizzes/import`, IMPORT);
      const listed = await harness.studio('GET', `${path}/quizzes`);
      const [first] = (await expectJson<QuizList>(listed, 200)).results;
      const copies = Array.from({ length: 28 }, () =>
        browser.send('POST', `/quizzes/${first?.id}/duplicate`),
      );
      const statuses = (await Promise.all(copies)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([201, 429]));
    }));

  test('[L-9] requests are accepted again after Retry-After', () =>
    withService(only('chat', 1, 1), async (harness) => {
      const viewer = await harness.viewer(await harness.createStream());
      await expectNoContent(await heart(viewer));
      const refused = await heart(viewer);
      await expectTooMany(refused, 1);
      await Bun.sleep(Number(refused.headers.get('retry-after')) * 1000 + 20);
      await expectNoContent(await heart(viewer));
    }));

  test('[L-10] registrations, counts and feed reads have no rate limit', () =>
    withService({ rates: onesOfAll() }, async (harness) => {
      const id = crypto.randomUUID();
      const nowMs = harness.clock.nowMs();
      const fields = { title: 'x', dash_url: null, hls_url: null };
      const stream = {
        ...fields,
        unlisted: false,
        latencyAllowance: 0,
        recording: false,
        autoStart: true,
        keepOpen: false,
      };
      const producer = harness.account.uuid;
      await harness.store.createStream({ id, producer, stream, nowMs });
      await harness.advance(1);
      const viewer = await harness.viewer(id);
      const counts = `/api/v1/view-counts/${id}`;
      const feed = `/api/v1/events-streams/${id}?interval=${harness.interval() - 1}`;
      for (let i = 0; i < 200; i++) {
        const answers = [viewer.post(counts), viewer.get(counts), viewer.get(feed)];
        const statuses = (await Promise.all(answers)).map(({ status }) => status);
        expect(statuses).toEqual([204, 200, 200]);
      }
    }));
  const onesOfAll = (): Config['rates'] => {
    const one = { points: 1, durationS: 60 };
    const tries = { failedAuth: one, signIn: one, passwords: one };
    return { tokens: one, answers: one, chat: one, studio: one, ...tries };
  };

  test('[L-11] the client address is that of the connection, whatever X-Forwarded-For contains', () =>
    withService(only('failedAuth', 2), async (harness) => {
      const from = (address: string) =>
        me(harness, 'fb_x', { 'X-Forwarded-For': address, Forwarded: `for=${address}` });
      await expectUnauthorized(await from('192.0.2.1'), 'Token');
      await expectUnauthorized(await from('192.0.2.2'), 'Token');
      await expectTooMany(await from('192.0.2.3'), 60);
    }));

  test('[L-11] with --trust-proxy the client address is the last entry of X-Forwarded-For', () =>
    withService({ ...only('failedAuth', 2), trustProxy: true }, async (harness) => {
      const from = (address: string) => me(harness, 'fb_x', { 'X-Forwarded-For': address });
      await expectUnauthorized(await from('192.0.2.1'), 'Token');
      await expectUnauthorized(await from('198.51.100.9, 192.0.2.1'), 'Token');
      // Entries that the client puts in front have no effect.
      await expectTooMany(await from('203.0.113.5,192.0.2.1'), 60);
      await expectUnauthorized(await from('192.0.2.1, 203.0.113.5'), 'Token');
    }));

  test('[L-11] addresses of one IPv6 /64 network share one rate', () =>
    withService({ ...only('failedAuth', 2), trustProxy: true }, async (harness) => {
      const from = (address: string) => me(harness, 'fb_x', { 'X-Forwarded-For': address });
      await expectUnauthorized(await from('2001:db8:1:2::1'), 'Token');
      await expectUnauthorized(await from('2001:db8:1:2:ffff::2'), 'Token');
      await expectTooMany(await from('2001:db8:1:2::3'), 60);
      await expectUnauthorized(await from('2001:db8:1:3::1'), 'Token');
    }));
});

describe('constants', () => {
  test('[L-12] the constants of the interface are fixed and no setting changes them', () => {
    expect(TOKEN_LIFETIME_S).toBe(600);
    expect(REGISTRATION_MS).toBe(1_000);
    expect(INTERVAL_MS).toBe(250);
    expect(WINNERS_DELAY_INTERVALS * INTERVAL_MS).toBe(1_000);
    const named = SETTING_KEYS.filter((key) =>
      /life|expir|registr|interval|winner|delay/i.test(key),
    );
    expect(named).toEqual([]);
  });

  test('[L-13] the 101st API token of an account returns 409 until one is revoked', () =>
    withService({ rates: HIGH_RATES }, async (harness) => {
      const create = () => harness.studio('POST', '/api-tokens', { name: 'x' });
      let last = '';
      // The account already has its first token.
      for (let i = 1; i < 100; i++) {
        last = (await expectJson<{ id: string }>(await create(), 201)).id;
      }
      await expectProblem(await create(), 409);
      await expectNoContent(await harness.studio('DELETE', `/api-tokens/${last}`));
      await expectJson(await create(), 201);
    }));

  test(
    '[L-13] the 2,001st quiz of a stream returns 409',
    () =>
      withService({ rates: HIGH_RATES }, async (harness) => {
        const streamId = await harness.createStream();
        const producer = harness.account.uuid;
        const quiz = { ...QUIZ, reveal: 'auto' as const };
        const create = () => {
          const id = crypto.randomUUID();
          return harness.store.createQuiz({ id, streamId, producer, quiz });
        };
        for (let made = 0; made < 2_000; made += 100) {
          await Promise.all(Array.from({ length: 100 }, create));
        }
        const path = `/streams/${streamId}/quizzes`;
        await expectProblem(await harness.studio('POST', path, QUIZ), 409);
        const other = await harness.createStream();
        await expectJson(await harness.studio('POST', `/streams/${other}/quizzes`, QUIZ), 201);
      }),
    20_000,
  );

  test('[L-13] a full stream returns 409 to a new viewer and still issues tokens to viewers with a seat', () =>
    withService({ rates: HIGH_RATES }, async (harness) => {
      const stream = await harness.createStream();
      const first = await harness.viewer(stream, 'first');
      await leaseAllButOne(harness, stream);
      const last = await harness.viewer(stream, 'last');
      expect(SEATS_MAX).toBe(16_777_216);
      await expectProblem(await newToken(harness, stream), 409);
      await harness.viewer(stream, 'first');
      const path = `/api/v1/view-counts/${stream}`;
      for (const viewer of [first, last]) await expectNoContent(await viewer.post(path));
      const { value } = await expectJson<{ value: number }>(await last.get(path), 200);
      expect(value).toBe(2);
    }));
});

/** Leases all seats of a stream but the last, like a node that then stops. */
async function leaseAllButOne(harness: Harness, streamId: string): Promise<void> {
  const { first } = await harness.store.leaseSeats({ streamId, count: 1 });
  await harness.store.leaseSeats({ streamId, count: SEATS_MAX - first - 2 });
}
