import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Subprocess } from 'bun';
import { createContactApi } from '../../player/contact/contact-api.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport, Report } from '../../protocol/report.ts';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { quit } from '../support/media/live-fixture.ts';
import { playTestPicture } from '../support/media/test-source.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// The report of a short show with a recording and known answers. Each test continues where the
// previous one stopped.

// Fast encoding with little delay.
const MEDIA_SETTINGS = [
  '--media-preset',
  'ultrafast',
  '--media-latency',
  'low',
  '--media-segment',
  '500',
];
const QUIZ = { choices: ['Mars', 'Jupiter'], answer: 'Jupiter', duration: 2_000 };
const LARGEST = 'Which planet is the largest?';
const SPOT = 'Which one has a red spot?';
/** Tolerance of a click on the chart: pixels and the step of the slider. */
const TOLERANCE_MS = 750;

// Whether the bars of answer times have the current accent color.
const HAS_ACCENT = `(() => {
  const dotsOf = (context) => context.getImageData(0, 0, context.canvas.width, context.canvas.height).data;
  const canvas = document.querySelector('figure canvas');
  const probe = new OffscreenCanvas(1, 1).getContext('2d');
  probe.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent');
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = dotsOf(probe);
  const dots = dotsOf(canvas.getContext('2d'));
  return dots.some((dot, at) => at % 4 === 0 && dot === red && dots[at + 1] === green && dots[at + 2] === blue);
})()`;

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;
let source: Subprocess | null = null;
let viewers: Viewer[];
let report: ReadyReport;

beforeAll(async () => {
  fixture = await StudioFixture.start(MEDIA_SETTINGS);
  owner = await fixture.openOwner();
}, 30_000);
afterAll(async () => {
  if (source) await quit(source);
  await fixture?.close();
});

const api = <T>(method: string, path: string, data?: unknown) =>
  fixture.call<T>(owner, method, path, data);
const showPath = (part: string) => `/streams/${streamId}${part}`;
const page = () => owner.page;
const panel = (name: string) => page().getByRole('region', { name });
/** Evaluates a property of the video element. */
const inVideo = <T>(what: string) => page().evaluate<T>(`document.querySelector('video').${what}`);
const slider = () => page().getByRole('slider', { name: 'Position in the recording' });

/** Sends a quiz, has viewers answer it, and waits for the results. */
async function ask(question: string, choices: readonly string[]): Promise<void> {
  const { id } = await api<StudioQuiz>('POST', showPath('/quizzes'), { ...QUIZ, question });
  await api('POST', `/quizzes/${id}/publish`);
  for (const [index, choice] of choices.entries()) {
    const viewer = viewers[index];
    await until('a viewer has the quiz', () => viewer?.quiz?.quiz.id === id);
    expect(await viewer?.answer(choice)).toBe('counted');
  }
  await until('all have the results', () =>
    viewers.every(({ quiz }) => quiz?.quiz.id === id && quiz.results !== null),
  );
}

describe('the report', () => {
  test('[J-1] is not available before the end, and the page says so', async () => {
    const fields = { title: 'Friday quiz night', recording: true };
    streamId = (await api<StudioStream>('POST', '/streams', fields)).id;
    await page().goto(`${fixture.url}/studio/streams/${streamId}`);
    await page().getByRole('link', { name: 'Report' }).click();
    await page().getByText('The show has not ended yet').waitFor();
    await expectUsable(page(), 'report-before');
  }, 60_000);

  test('follows a show with two quizzes, a winners round and chat messages', async () => {
    const { token } = await api<{ token: string }>('POST', '/api-tokens', { name: 'Camera' });
    source = await playTestPicture(
      { url: fixture.url, account: { token } as Parameters<typeof playTestPicture>[0]['account'] },
      streamId,
    );
    viewers = ['one', 'two', 'three'].map((name) => fixture.joinViewer(streamId, name));
    await until('all are counted', () => viewers.every((viewer) => viewer.count?.value === 3));
    await ask(LARGEST, ['Mars', 'Jupiter', 'Jupiter']);
    await ask(SPOT, ['Jupiter', 'Jupiter']);
    await api('POST', showPath('/request-winners'));
    await until('all have the winners', () =>
      viewers.every(({ snapshot }) => snapshot.winners.count !== null),
    );
    await viewers[0]?.sendMessage('question', 'What comes next?');
    await viewers[1]?.sendMessage('message', 'Hello there');
    await api('POST', showPath('/events'), { type: 'discount', data: { count: 4 } });
    await Bun.sleep(2_000);
    await page().goto(`${fixture.url}/studio/streams/${streamId}/on-air`);
    await page().getByText(/^3$/).first().waitFor();
    await api('POST', showPath('/end'), {});
    // Otherwise counts would continue and change the audience export.
    for (const viewer of viewers) viewer.leave();
    await page().getByRole('link', { name: 'View the report' }).click();
    await page().getByRole('region', { name: 'Figures' }).waitFor();
    const read = await api<Report>('GET', showPath('/report'));
    if (read.state !== 'ready') throw new Error(read.state);
    report = read;
  }, 90_000);

  test('[J-4] [J-6] [J-7] [J-8] [J-9] has the figures of the show', async () => {
    const figures = panel('Figures');
    for (const [name, value] of [
      ['Peak viewers', '3'],
      ['Unique viewers', '3'],
      ['Average viewers', report.average.toLocaleString(undefined, { maximumFractionDigits: 1 })],
    ] as const) {
      const figure = figures
        .locator('div', { has: page().getByText(name, { exact: true }) })
        .last();
      expect([name, await figure.locator('dd').first().textContent()]).toEqual([name, value]);
    }
    expect(await panel('Quizzes').getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining(LARGEST),
      'Mars1 · 33 %',
      'Jupiter ✓ correct2 · 67 %',
      expect.stringContaining(SPOT),
      'Mars0 · 0 %',
      'Jupiter ✓ correct2 · 100 %',
    ]);
    await panel('Quizzes').getByText('3 answered, 67 % correct').waitFor();
    await panel('Quizzes').getByText('2 answered, 100 % correct').waitFor();
    await panel('Fairness')
      .getByText(/^Of 5 answers the first came/)
      .waitFor();
    await panel('Fairness').getByText('No answer arrived before its quiz').waitFor();
    const chatFigures = await panel('Chat').locator('dl > div').allTextContents();
    expect(chatFigures).toEqual([
      ...['Messages1', 'Questions1', 'Greetings0', 'Cheers0'],
      ...['Hearts0', 'Purchases0', 'Discounts4'],
    ]);
  }, 30_000);

  test('[P-28] lists the winners', async () => {
    await panel('Winners').getByText('1 winner', { exact: true }).waitFor();
    await panel('Winners')
      .getByRole('button', { name: /^Show winners/ })
      .click();
    const list = panel('Winners').getByRole('list', { name: 'Winners by report time' });
    const [winner] = await rowsOf('winners');
    await list.getByRole('listitem').first().waitFor();
    expect(await list.getByRole('listitem').allTextContents()).toEqual([
      expect.stringMatching(new RegExp(`^two${winner?.code}after`)),
    ]);
  }, 30_000);

  test('[P-28] reads winners again for a report that is made again, and says when their list is incomplete', async () => {
    // The export has no winner of this round.
    const rounds = [
      ...report.rounds,
      { id: crypto.randomUUID(), requested: 0, quizzes: 1, count: 2 },
    ];
    await page().route(/\/report$/, (route) =>
      route.fulfill({ json: { ...report, rounds, made: report.made + 1 } }),
    );
    await page().getByRole('link', { name: 'Rundown' }).click();
    await page().getByRole('link', { name: 'Report' }).click();
    await panel('Winners').getByText('2 winners', { exact: true }).waitFor();
    const read = page().waitForRequest(/\/exports\/winners/);
    await panel('Winners')
      .getByRole('button', { name: /round 2$/ })
      .click();
    await read;
    await panel('Winners')
      .getByText(
        'The list of round 2 is incomplete: 2 of 2 winners are missing, perhaps the earliest.',
      )
      .waitFor();
    await panel('Winners').getByRole('link', { name: 'Winners as CSV' }).waitFor();
    await expectUsable(page(), 'report-incomplete');
    await page().unroute(/\/report$/);
    await page().reload();
    await panel('Figures').waitFor();
  }, 60_000);

  test('[W-14] asks the winners for contact details, and lists and erases what they send', async () => {
    const dialog = page().getByRole('dialog', { name: 'Contact details of the winners' });
    await panel('Winners').getByRole('button', { name: 'Ask for contact details' }).click();
    await dialog.getByLabel('What winners read above the form').fill('Where do you live?');
    await expectUsable(page(), 'contacts-ask');
    await button(dialog, 'Ask the winners').click();
    await dialog.getByText('Where do you live?').waitFor();
    await dialog.getByText('Nobody has answered yet.').waitFor();
    const winner = createContactApi({
      streamId,
      viewerId: 'two',
      fetch: (path, init) => fetch(fixture.url + path, init),
    });
    const { request } = await winner.read();
    expect(request?.note).toBe('Where do you live?');
    await winner.save(request?.roundId ?? '', { name: 'Ada', contact: 'ada@example.org' });
    await dialog.getByText('ada@example.org').waitFor();
    await expectUsable(page(), 'contacts');
    const href = await dialog.getByRole('link', { name: 'Download as CSV' }).getAttribute('href');
    expect(await page().evaluate<string>(`fetch('${href}').then((file) => file.text())`)).toContain(
      'Ada,ada@example.org',
    );
    await button(dialog, 'Stop asking').click();
    await button(dialog, 'Ask the winners').waitFor();
    await button(dialog, 'Erase the contact details of Ada').click();
    await button(page().getByRole('alertdialog'), 'Erase').click();
    await dialog.getByText('Ada', { exact: true }).waitFor({ state: 'detached' });
    expect(await rowsOf('contacts')).toEqual([]);
    await page().keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }, 60_000);

  test('[J-10] [M-27] seeks the recording to the pressed position of the chart', async () => {
    await slider().waitFor();
    const track = panel('Audience').locator('.u-over');
    await track.scrollIntoViewIfNeeded();
    const box = await track.boundingBox();
    if (!box) throw new Error('there is no chart');
    const { startMs, durationMs } = await spanOf();
    for (const share of [0.75, 0.5]) {
      await page().mouse.click(box.x + box.width * share, box.y + box.height / 2);
      const wantedMs = startMs + durationMs * share;
      await expectShown(wantedMs);
      expect(
        Math.abs(Number(await slider().inputValue()) * 1_000 - durationMs * share),
      ).toBeLessThan(TOLERANCE_MS);
    }
    // By keyboard too.
    const before = Number(await slider().inputValue());
    await slider().focus();
    await page().keyboard.press('ArrowLeft');
    await until('the slider goes back', async () => Number(await slider().inputValue()) < before);
  }, 30_000);

  test('moves the slider while the recording plays', async () => {
    const before = Number(await slider().inputValue());
    await inVideo('play()');
    await until('the slider moves', async () => Number(await slider().inputValue()) > before + 1);
    await inVideo('pause()');
    const { startMs } = await spanOf();
    await expectShown(startMs + Number(await slider().inputValue()) * 1_000);
  }, 30_000);

  test('seeks the recording to a quiz', async () => {
    await button(page(), 'Show quiz 2 in the recording').click();
    await expectShown(intervalStartMs(report.quizzes[1]?.toldInterval ?? 0));
    expect(await inVideo('matches(":focus")')).toBe(true);
  }, 30_000);

  test('is accessible, and prints in light colors without video and links', async () => {
    await expectUsable(page(), 'report');
    for (const colorScheme of ['dark', 'light'] as const) {
      await page().emulateMedia({ colorScheme });
      await until('the chart has its color', () => page().evaluate<boolean>(HAS_ACCENT));
    }
    await page().emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page().setViewportSize({ width: 760, height: 1_075 });
    for (const hidden of [
      page().locator('video'),
      panel('Files'),
      page().getByRole('navigation').first(),
    ])
      expect(await hidden.isVisible()).toBe(false);
    expect(await page().evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgb(245, 244, 248)',
    );
    await saveScreenshot(page(), 'studio-report-print');
    await page().emulateMedia({ media: null, colorScheme: null });
    await page().setViewportSize({ width: 1_280, height: 720 });
  }, 60_000);

  test('[J-12] has exports that match the figures', async () => {
    // At most four exports at once (L-20).
    const [results, answers, winners] = await Promise.all(
      ['results', 'answers', 'winners'].map(rowsOf),
    );
    const [audience, chat, feed] = await Promise.all(['audience', 'chat', 'feed'].map(rowsOf));
    expect(results?.map(({ choice, count }) => [choice, count])).toEqual([
      ...[
        ['Mars', 1],
        ['Jupiter', 2],
      ],
      ...[
        ['Mars', 0],
        ['Jupiter', 2],
      ],
    ]);
    expect([answers?.length, winners?.length]).toEqual([5, 1]);
    expect(Math.max(...(audience ?? []).map(({ count }) => Number(count)))).toBe(3);
    expect(chat?.map(({ kind, text }) => [kind, text])).toEqual([
      ['question', 'What comes next?'],
      ['message', 'Hello there'],
    ]);
    expect(feed?.length).toBeGreaterThan(5);
  }, 30_000);

  test('[J-1] is not available to moderators, and the page says so', async () => {
    const { link } = await api<{ link: string }>('POST', '/invitations', {
      email: 'mo@example.org',
      role: 'moderator',
    });
    const moderator = await fixture.open(new URL(link).pathname + new URL(link).hash);
    await field(moderator.page, 'Your name').fill('Mo');
    await field(moderator.page, 'New password').fill(PASSWORD);
    await button(moderator.page, 'Join').click();
    await moderator.page.getByRole('link', { name: /Friday quiz night/ }).click();
    await moderator.page.getByRole('link', { name: 'Rundown' }).waitFor();
    expect(await moderator.page.getByRole('link', { name: 'Report' }).count()).toBe(0);
    await moderator.page.goto(page().url());
    await moderator.page.getByText('Reports are for owners and hosts').waitFor();
    expect(moderator.errors).toEqual([]);
  }, 30_000);

  test('[J-1] shows its progress and a failure', async () => {
    let mockReport: Report = { state: 'working', done: 0.4 };
    await page().route(/\/report$/, (route) =>
      route.request().resourceType() === 'document'
        ? route.continue()
        : route.fulfill({ json: mockReport }),
    );
    await page().reload();
    await page().getByRole('progressbar', { name: 'Creating the report' }).waitFor();
    await page().getByText('40%').waitFor();
    await expectUsable(page(), 'report-working');
    mockReport = { state: 'failed' };
    await page().getByText('The report could not be created').waitFor();
    await expectUsable(page(), 'report-failed');
    await page().unroute(/\/report$/);
    await page().reload();
    await panel('Figures').waitFor();
  }, 60_000);

  test('reloads when the player of its recording did not load, and shows the recording then', async () => {
    await page().route('**/recording-hls-*.js', (route) => route.abort(), { times: 1 });
    await page().reload();
    await page().getByText('The video player did not load.').waitFor();
    expect(await page().getByText('The recording is not available.').count()).toBe(0);
    expect(await button(page(), 'Show quiz 1 in the recording').count()).toBe(0);
    await expectUsable(page(), 'report-player-not-loaded');
    await button(page(), 'Reload the page').click();
    await slider().waitFor();
  }, 60_000);

  test('works without its recording', async () => {
    await page().route(/\.m3u8$/, (route) => route.fulfill({ status: 404 }));
    await page().reload();
    await page().getByText('The recording is not available.').waitFor();
    expect(await button(page(), 'Show quiz 1 in the recording').count()).toBe(0);
    expect(await slider().count()).toBe(0);
    await panel('Audience').locator('canvas').waitFor();
    expect(owner.errors).toEqual([]);
  }, 60_000);
});

/** The rows of an export, from its link on the page. Checks that the CSV file has as many. */
async function rowsOf(what: string): Promise<Record<string, unknown>[]> {
  const link = panel('Files').locator(`a[href*="/exports/${what}?format=ndjson"]`);
  const href = (await link.getAttribute('href')) ?? '';
  const text = await (await page().request.get(fixture.url + href)).text();
  const rows = text.split('\n').filter(Boolean);
  const csv = await (await page().request.get(fixture.url + href.replace('ndjson', 'csv'))).text();
  if (what !== 'feed') expect(csv.trimEnd().split('\r\n').length).toBe(rows.length + 1);
  return rows.map((row) => JSON.parse(row));
}

/** Start and duration of the chart. */
async function spanOf(): Promise<{ readonly startMs: number; readonly durationMs: number }> {
  const startMs = report.started ?? 0;
  return { startMs, durationMs: report.ended - startMs };
}

/** Checks the capture time of the frame on screen against the playlist. */
async function expectShown(wantedMs: number): Promise<void> {
  const playlist = await (await fetch(`${fixture.url}/media/${streamId}/v0.m3u8`)).text();
  const firstMs = Date.parse(/#EXT-X-PROGRAM-DATE-TIME:(\S+)/.exec(playlist)?.[1] ?? '');
  let offMs = Number.NaN;
  await until('the recording shows the wanted time', async () => {
    const positionS = await inVideo<number>('currentTime');
    offMs = firstMs + positionS * 1_000 - wantedMs;
    return Math.abs(offMs) < TOLERANCE_MS;
  }).catch(() => {
    throw new Error(`the recording is off by ${offMs} ms`);
  });
}
