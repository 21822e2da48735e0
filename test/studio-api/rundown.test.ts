import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { Rundown } from '../../protocol/rundown.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { expectJson, type Harness, QUIZ, startService } from '../support/harness/harness.ts';

interface Rejection {
  readonly detail: string;
  readonly order?: string[];
  readonly errors?: string[];
}

describe.each(['embedded', 'shared'] as const)('the rundown on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends });
  }, 30_000);
  afterAll(() => service.close());

  const draft = async (streamId: string, fields: object = {}): Promise<StudioQuiz> =>
    expectJson(
      await service.studio('POST', `/streams/${streamId}/quizzes`, { ...QUIZ, ...fields }),
      201,
    );
  const drafts = async (streamId: string, count: number) => {
    const made: StudioQuiz[] = [];
    for (let n = 1; n <= count; n++) made.push(await draft(streamId, { question: `Number ${n}?` }));
    return made;
  };
  const publish = async (id: string): Promise<StudioQuiz> =>
    expectJson(await service.studio('POST', `/quizzes/${id}/publish`), 200);
  const read = async (streamId: string): Promise<Rundown> =>
    expectJson(await service.studio('GET', `/streams/${streamId}/quizzes`), 200);
  const idsIn = async (streamId: string) => (await read(streamId)).results.map((quiz) => quiz.id);
  const revisionOf = async (streamId: string) => (await read(streamId)).revision;
  const order = (streamId: string, body: { order: string[]; revision?: number }) =>
    service.studio('POST', `/streams/${streamId}/rundown`, body);
  const runImport = (streamId: string, body: object) =>
    service.studio('POST', `/streams/${streamId}/quizzes/import`, body);
  const ofJson = (quizzes: object[]) => ({
    format: 'fourbeat-json',
    text: JSON.stringify({ quizzes }),
  });
  const runExport = (streamId: string, query = '') =>
    service.studio('GET', `/streams/${streamId}/exports/quizzes${query}`);
  const errorOf = (response: Response, status: number) => expectJson<Rejection>(response, status);

  test('[D-1] [D-3] the rundown takes the requested order of drafts; published quizzes keep their positions', async () => {
    const streamId = await service.createStream();
    const [a, b, c, d, e] = (await drafts(streamId, 5)).map(({ id }) => id) as string[];
    await publish(b as string);
    const moved = await order(streamId, { order: [e, a, d, c] as string[] });
    const list = await expectJson<Rundown>(moved, 200);
    expect(list.results.map(({ id }) => id)).toEqual([e, b, a, d, c] as string[]);
    expect(await read(streamId)).toEqual(list);
    const last = await draft(streamId);
    expect(await idsIn(streamId)).toEqual([e, b, a, d, c, last.id] as string[]);
    await publish(d as string);
    expect(await idsIn(streamId)).toEqual([e, b, a, d, c, last.id] as string[]);
    const again = await order(streamId, { order: [last.id, c, a, e] as string[] });
    const { results } = await expectJson<Rundown>(again, 200);
    expect(results.map(({ id }) => id)).toEqual([last.id, b, c, d, a, e] as string[]);
  });

  test('[D-1] [D-5] the rundown keeps the order of other quizzes on delete, copy and close', async () => {
    const streamId = await service.createStream();
    const [a, b, c, d] = (await drafts(streamId, 4)).map(({ id }) => id) as string[];
    const open = await publish(b as string);
    const copyOf = async (id: string | undefined) =>
      expectJson<StudioQuiz>(await service.studio('POST', `/quizzes/${id}/duplicate`), 201);
    const ofA = await copyOf(a);
    expect(await idsIn(streamId)).toEqual([a, b, ofA.id, c, d] as string[]);
    const ofB = await copyOf(b);
    expect(await idsIn(streamId)).toEqual([a, b, ofB.id, ofA.id, c, d] as string[]);
    const ofD = await copyOf(d);
    await service.advance((open.closeInterval ?? 0) - service.interval() + 1);
    await service.studio('DELETE', `/quizzes/${ofB.id}`);
    expect(await idsIn(streamId)).toEqual([a, b, ofA.id, c, d, ofD.id] as string[]);
    expect(ofB).toEqual({
      ...(await draft(streamId, { question: 'Number 2?' })),
      id: ofB.id,
    });
  });

  test('[D-5] a duplicate copies question, choices, answer, duration and reveal into a draft', async () => {
    const streamId = await service.createStream();
    const quiz = await service.publishQuiz(streamId, { reveal: 'manual', duration: 1_000 });
    for (const state of ['open', 'closed', 'revealed']) {
      const response = await service.studio('POST', `/quizzes/${quiz.id}/duplicate`);
      const copy = await expectJson<StudioQuiz>(response, 201);
      const now = await service.studio('GET', `/quizzes/${quiz.id}`);
      expect((await expectJson<StudioQuiz>(now, 200)).state as string).toBe(state);
      const fresh = { state: 'draft', created: null, closeInterval: null, counts: null } as const;
      expect(copy as object).toEqual({ ...quiz, ...fresh, id: copy.id });
      if (state === 'open') await service.advance(6);
      else await service.studio('POST', `/quizzes/${quiz.id}/reveal`);
    }
  });

  test('[D-2] each change of the rundown, and nothing else, increases its revision', async () => {
    const streamId = await service.createStream();
    expect(await read(streamId)).toEqual({ results: [], revision: 0 });
    let before = 0;
    const expectRevisionChange = async (what: string, change: () => Promise<Response>, by = 1) => {
      const response = await change();
      const after = await revisionOf(streamId);
      expect([what, response.ok, Math.sign(after - before)]).toEqual([what, true, by]);
      before = after;
      return response;
    };
    const path = `/streams/${streamId}`;
    const post = (rest: string, body?: object) => () => service.studio('POST', rest, body);
    const quiz = { ...QUIZ, duration: 1_000 };
    const made = await expectRevisionChange('create', post(`${path}/quizzes`, quiz));
    const { id } = (await made.json()) as StudioQuiz;
    const copied = await expectRevisionChange('duplicate', post(`/quizzes/${id}/duplicate`));
    const copy = (await copied.json()) as StudioQuiz;
    await expectRevisionChange('change', () =>
      service.studio('PATCH', `/quizzes/${id}`, { reveal: 'manual' }),
    );
    await expectRevisionChange('order', post(`${path}/rundown`, { order: [copy.id, id] }));
    await expectRevisionChange('same order', post(`${path}/rundown`, { order: [copy.id, id] }), 0);
    await expectRevisionChange('import', post(`${path}/quizzes/import`, ofJson([QUIZ, QUIZ])));
    await expectRevisionChange('publish', post(`/quizzes/${id}/publish`));
    await expectRevisionChange('delete', () => service.studio('DELETE', `/quizzes/${copy.id}`));
    await service.advance(5);
    await expectRevisionChange('close and reveal', post(`/quizzes/${id}/reveal`), 0);
    await expectRevisionChange('read', () => service.studio('GET', `/quizzes/${id}`), 0);
    await order(streamId, { order: [] });
    await expectRevisionChange('refuse', () => service.studio('GET', path), 0);
    const other = await service.createStream();
    await drafts(other, 2);
    expect(await revisionOf(streamId)).toBe(before);
  });

  test('[D-4] an order of other quizzes than the drafts gets 409 with the ids of the drafts', async () => {
    const streamId = await service.createStream();
    const [a, b, c] = (await drafts(streamId, 3)).map(({ id }) => id) as [string, string, string];
    await publish(b);
    const foreignId = (await draft(await service.createStream())).id;
    const before = await read(streamId);
    const wrongOrders = [[], [a], [a, b], [a, a], [c, b, a], [c, a, a]];
    for (const given of [...wrongOrders, [c, a, randomUUID()], [c, foreignId]]) {
      const { order: now, detail } = await errorOf(await order(streamId, { order: given }), 409);
      expect(now).toEqual([a, c]);
      expect(detail).toContain('changed');
    }
    expect(await read(streamId)).toEqual(before);
  });

  test('[D-4] an order with an outdated revision gets 409', async () => {
    const streamId = await service.createStream();
    const [a, b, c] = (await drafts(streamId, 3)).map(({ id }) => id) as [string, string, string];
    const { revision } = await read(streamId);
    const first = await order(streamId, { order: [c, a, b], revision });
    const seen = await expectJson<Rundown>(first, 200);
    const late = await errorOf(await order(streamId, { order: [b, a, c], revision }), 409);
    expect(late.order).toEqual([c, a, b]);
    expect(await read(streamId)).toEqual(seen);
    const { revision: newer } = seen;
    expect((await order(streamId, { order: [b, a, c], revision: newer })).status).toBe(200);
  });

  test('[D-6] an import appends a draft for each imported quiz, in order', async () => {
    const streamId = await service.createStream();
    const [first] = await drafts(streamId, 1);
    const quizzes = [3, 1, 2].map((n) => ({ ...QUIZ, question: `Imported ${n}?` }));
    const { duration: _, ...untimed } = { ...QUIZ, question: 'Untimed?' };
    const response = await runImport(streamId, ofJson([...quizzes, untimed]));
    const { results } = await expectJson<{ results: StudioQuiz[] }>(response, 201);
    const plain = { state: 'draft', streamId, reveal: 'auto', created: null } as const;
    expect(results).toMatchObject([
      ...quizzes.map((quiz) => ({ ...quiz, ...plain })),
      { ...untimed, ...plain, duration: 20_000 },
    ]);
    expect((await read(streamId)).results).toEqual([first as StudioQuiz, ...results]);
    const timed = await runImport(streamId, { ...ofJson([untimed]), duration: 7_000 });
    const { results: more } = await expectJson<{ results: StudioQuiz[] }>(timed, 201);
    expect(more).toMatchObject([{ duration: 7_000 }]);
    expect(await idsIn(streamId)).toEqual(
      [first, ...results, ...more].map((quiz) => quiz?.id ?? ''),
    );
  });

  test('[D-6] [D-7] an import with an invalid quiz imports nothing and lists all errors', async () => {
    const streamId = await service.createStream();
    const bad = { ...QUIZ, question: '', duration: 5 };
    const refused = await errorOf(await runImport(streamId, ofJson([QUIZ, bad, QUIZ, bad])), 400);
    expect(refused.errors).toEqual([
      'quiz 2, question: must not be empty',
      'quiz 2, duration: must be at least 1000',
      'quiz 4, question: must not be empty',
      'quiz 4, duration: must be at least 1000',
    ]);
    expect(refused.detail).toBe(`${refused.errors?.slice(0, 3).join('; ')}; and 1 more`);
    expect(await read(streamId)).toEqual({ results: [], revision: 0 });
  });

  test('[D-8] an import accepts every documented format and no other', async () => {
    const trivia = { correct_answer: 'a', incorrect_answers: ['b'], question: 'Is it &amp;?' };
    const streamId = await service.createStream();
    for (const [format, text] of [
      ['fourbeat-json', JSON.stringify([QUIZ])],
      ['fourbeat-csv', 'question;answer;choice 1;choice 2\nWhich?;a;a;b\n'],
      ['opentdb', JSON.stringify({ response_code: 0, results: [trivia] })],
      [
        'the-trivia-api',
        JSON.stringify([{ correctAnswer: 'a', incorrectAnswers: ['b'], question: { text: '?' } }]),
      ],
      ['kahoot-csv', 'Question,Answer 1,Answer 2,Time limit,Correct answer(s)\n?,a,b,20,1\n'],
    ]) {
      expect([format, (await runImport(streamId, { format, text })).status]).toEqual([format, 201]);
    }
    const questions = (await read(streamId)).results.map(({ question }) => question);
    expect(questions).toEqual([QUIZ.question, 'Which?', 'Is it &?', '?', '?']);
    for (const format of ['xlsx', 'csv', '']) {
      const { detail } = await errorOf(await runImport(streamId, { format, text: 'x' }), 400);
      expect(detail).toStartWith('format: must be one of');
    }
  });

  test('[D-18] a preview of an import returns its quizzes or its errors, and creates none', async () => {
    const streamId = await service.createStream();
    const preview = (id: string, body: object) =>
      service.studio('POST', `/streams/${id}/quizzes/import/preview`, body);
    const trivia = {
      question: 'Is &quot;D&quot; 500?',
      correct_answer: 'True',
      incorrect_answers: ['False'],
    };
    const text = JSON.stringify({ response_code: 0, results: [trivia] });
    const { quizzes } = await expectJson<{ quizzes: object[] }>(
      await preview(streamId, { format: 'opentdb', text, duration: 7_000 }),
      200,
    );
    const choices = ['False', 'True'];
    expect(quizzes).toEqual([
      {
        question: 'Is "D" 500?',
        choices: expect.arrayContaining(choices),
        answer: 'True',
        ...{ duration: 7_000, reveal: 'auto' },
      },
    ]);
    const refused = await errorOf(await preview(streamId, ofJson([QUIZ, {}])), 400);
    expect(refused.errors?.[0]).toStartWith('quiz 2, question: ');
    expect(await read(streamId)).toEqual({ results: [], revision: 0 });
    expect((await preview(randomUUID(), ofJson([QUIZ]))).status).toBe(404);
  });

  test('[D-6] [L-13] an import of over 500 quizzes, or to over 2,000 in total, imports none', async () => {
    const streamId = await service.createStream();
    const some = (count: number) => ofJson(Array(count).fill(QUIZ));
    expect((await runImport(streamId, some(501))).status).toBe(400);
    for (let n = 0; n < 3; n++) expect((await runImport(streamId, some(500))).status).toBe(201);
    expect((await runImport(streamId, some(499))).status).toBe(201);
    const before = await read(streamId);
    expect(before.results).toHaveLength(1_999);
    expect((await runImport(streamId, some(2))).status).toBe(409);
    expect(await read(streamId)).toEqual(before);
    const ids = before.results.map(({ id }) => id);
    // The longest possible order.
    const turned = await order(streamId, { order: ids.toReversed() });
    const { results } = await expectJson<Rundown>(turned, 200);
    expect(results.map(({ id }) => id)).toEqual(ids.toReversed());
    const copy = () => service.studio('POST', `/quizzes/${ids[1_000]}/duplicate`);
    const copied = await expectJson<StudioQuiz>(await copy(), 201);
    const around = [ids[1_001], ids[1_000], copied.id, ids[999]] as string[];
    expect((await idsIn(streamId)).slice(997, 1_001)).toEqual(around);
    expect((await copy()).status).toBe(409);
  }, 30_000);

  test('[D-15] [D-16] exported quizzes, also published ones, are the same after an import', async () => {
    const from = await service.createStream({ title: 'A show' });
    const quizzes = [
      { ...QUIZ, question: '=1+1; "which", then?', choices: ["'+a", '-b', ' c '], answer: ' c ' },
      { ...QUIZ, reveal: 'manual', duration: 600_000 },
      { ...QUIZ, question: 'Größe — 日本 🎉?', choices: ['1984', '007'], answer: '007' },
    ];
    for (const quiz of quizzes) await draft(from, quiz);
    const [, second] = await idsIn(from);
    await publish(second as string);
    for (const format of ['json', 'csv']) {
      const file = await runExport(from, `?format=${format}`);
      expect(file.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="a-show-\\d{4}-\\d\\d-\\d\\d-quizzes.${format}"$`),
      );
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await file.arrayBuffer());
      expect(text.startsWith('\ufeff')).toBe(format === 'csv');
      const to = await service.createStream();
      const imported = await runImport(to, { format: `fourbeat-${format}`, text });
      expect(imported.status).toBe(201);
      expect((await read(to)).results).toMatchObject(
        quizzes.map((quiz) => ({ reveal: 'auto', ...quiz, state: 'draft' })),
      );
    }
  });

  test('[D-15] the rundown is exported as JSON by default; an unknown format gets 400', async () => {
    const streamId = await service.createStream();
    const file = await runExport(streamId);
    expect(file.headers.get('content-type')).toBe('application/json');
    expect(await expectJson<object>(file, 200)).toEqual({ quizzes: [] });
    const csv = await runExport(streamId, '?format=csv');
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    for (const format of ['ndjson', 'CSV', '']) {
      expect((await runExport(streamId, `?format=${format}`)).status).toBe(400);
    }
  });
});
