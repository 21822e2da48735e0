import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LiveState } from '../../protocol/live.ts';
import type { PresenterState } from '../../protocol/presenter.ts';
import type { StreamDetail } from '../../protocol/streams.ts';
import type { RoundWinner } from '../../protocol/winners.ts';
import { postChat, sendMessage, viewerIdOf } from '../support/chat/moderated-chat.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import {
  expectJson,
  type Harness,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

let service: Harness;

/** The code that the viewer's own page gets. */
async function codeOf(viewer: TestViewer): Promise<string> {
  const response = await viewer.get(`/api/v1/streams/${viewer.streamId}/`);
  return (await expectJson<StreamDetail>(response, 200)).winner_code ?? '';
}

/** Runs a round that these viewers win. */
async function playRound(streamId: string, winners: readonly TestViewer[]): Promise<void> {
  await service.studio('POST', `/streams/${streamId}/request-winners`);
  for (const viewer of winners) {
    expect((await viewer.post(`/api/v1/quizzes/${streamId}/record-winner`)).status).toBe(204);
  }
  await service.advance(6);
}

/** The winners of a state, in the order of their codes, when they are as expected. */
async function expectWinners<State>(
  streamId: string,
  kind: 'live' | 'present',
  winnersOf: (state: State) => readonly RoundWinner[],
  expected: readonly RoundWinner[],
): Promise<void> {
  const reader = new EventReader(await service.studio('GET', `/streams/${streamId}/${kind}`));
  const byCode = (winners: readonly RoundWinner[]) =>
    winners.toSorted((a, b) => (a.code < b.code ? -1 : 1));
  let last: readonly RoundWinner[] = [];
  await reader
    .nextState<State>((state) => {
      last = byCode(winnersOf(state));
      return Bun.deepEquals(last, byCode(expected));
    })
    .catch(() => {});
  await reader.close();
  expect(last).toEqual(byCode(expected));
}

const onDisplay = (streamId: string, expected: readonly RoundWinner[]) =>
  expectWinners<PresenterState>(
    streamId,
    'present',
    ({ winners }) => winners?.first ?? [],
    expected,
  );
const onAir = (streamId: string, expected: readonly RoundWinner[]) =>
  expectWinners<LiveState>(streamId, 'live', ({ winners }) => winners, expected);

interface ExportedRow {
  readonly round: number;
  readonly viewer: string;
  readonly name: string | null;
  readonly code: string;
}

async function exportedRows(streamId: string): Promise<ExportedRow[]> {
  const response = await service.studio('GET', `/streams/${streamId}/exports/winners`);
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

describe.each(['embedded', 'shared'] as const)('winners on %s backends', (backends) => {
  beforeAll(async () => {
    service = await startService({ backends });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  test('[W-13] a winner has its last name in the chat, and the code that its own page gets', async () => {
    const streamId = await service.createStream();
    const [ada, bob] = [await service.viewer(streamId), await service.viewer(streamId)];
    for (const name of ['Ada', 'Grace']) await postChat(ada, { name });
    // A message without a name keeps the name.
    await postChat(ada);
    await postChat(bob);
    await playRound(streamId, [ada, bob]);
    const [code, otherCode] = [await codeOf(ada), await codeOf(bob)];
    expect(code).toMatch(/^[A-Z]{4}-[2-9]{4}$/);
    expect(otherCode).not.toBe(code);
    const expected = [
      { code, name: 'Grace' },
      { code: otherCode, name: null },
    ];
    await onDisplay(streamId, expected);
    await onAir(streamId, expected);
    const rows = await exportedRows(streamId);
    expect(new Map(rows.map((row) => [row.viewer, [row.round, row.name, row.code]]))).toEqual(
      new Map([
        [viewerIdOf(ada), [1, 'Grace', code]],
        [viewerIdOf(bob), [1, null, otherCode]],
      ]),
    );
  });

  test('[W-13] a viewer has another code in another stream, and nobody else gets it', async () => {
    const [first, second] = [await service.createStream(), await service.createStream()];
    const viewer = await service.viewer(first, 'one');
    const code = await codeOf(viewer);
    expect(await codeOf(await service.viewer(first, 'one'))).toBe(code);
    expect(await codeOf(await service.viewer(second, 'one'))).not.toBe(code);
    const other = await service.viewer(first, 'two');
    await postChat(viewer, { name: 'Ada' });
    await playRound(first, [viewer, other]);
    const intervals: string[] = [];
    for (let interval = service.interval() - 8; interval < service.interval(); interval++) {
      const path = `/api/v1/events-streams/${first}?interval=${interval}`;
      intervals.push(await (await other.get(path)).text());
    }
    const detail = await (await other.get(`/api/v1/streams/${first}/`)).text();
    expect([...intervals, detail].filter((text) => text.includes(code))).toEqual([]);
    expect(intervals.join('')).toContain('{"count":2}');
  });

  test('[W-13] the display gives the code of a winner whose name moderators hid', async () => {
    const streamId = await service.createStream();
    const [ada, bob, eve] = [
      await service.viewer(streamId),
      await service.viewer(streamId),
      await service.viewer(streamId),
    ];
    const { id } = await sendMessage(service, ada, { name: 'Ada' });
    for (const [viewer, name] of [
      [bob, 'Bob'],
      [eve, 'Eve'],
    ] as const) {
      await sendMessage(service, viewer, { name });
    }
    await playRound(streamId, [ada, bob, eve]);
    const [adaCode, bobCode, eveCode] = await Promise.all([ada, bob, eve].map(codeOf));
    const winner = (code = '', name: string | null = null) => ({ code, name });
    const named = [winner(adaCode, 'Ada'), winner(bobCode, 'Bob'), winner(eveCode, 'Eve')];
    await onDisplay(streamId, named);
    await service.studio('POST', `/streams/${streamId}/chat/hidden`, { ids: [id] });
    await service.studio('POST', `/streams/${streamId}/chat/muted/${viewerIdOf(bob)}`, {});
    await onDisplay(streamId, [winner(adaCode), winner(bobCode), winner(eveCode, 'Eve')]);
    // The producer still sees whom it is about.
    await onAir(streamId, named);
  });

  test('[P-28] exported winners name their round, the questions, and times in words', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    await playRound(streamId, [viewer]);
    const quizzes = ['Which planet is the largest?', 'And the smallest?'];
    for (const question of quizzes) {
      const quiz = await service.publishQuiz(streamId, { question, duration: 1_000 });
      expect((await answer(viewer, quiz)).status).toBe(204);
      await service.advance(quiz.closeInterval - service.interval() + 1);
    }
    await playRound(streamId, [viewer]);
    const rows = await exportedRows(streamId);
    const code = await codeOf(viewer);
    expect(rows).toMatchObject([
      { round: 1, code, questions: '' },
      { round: 2, code, questions: 'Which planet is the largest? · And the smallest?' },
    ]);
  });
});
