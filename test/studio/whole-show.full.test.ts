import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import {
  addQuiz,
  button,
  expectUsable,
  field,
  saveScreenshot,
} from '../support/studio/studio-pages.ts';
// `npm run test:full` runs this file again, with `expectUsable` at every size, light and dark.
import '../support/full-run.ts';

// A complete show from the first start of a service to the report, with an owner, a moderator,
// three viewers on phones and a desktop, and a display. Each test continues where the previous one
// stopped.

const TITLE = 'Friday quiz night';
const LARGEST = 'Which planet is the largest?';
const MOONS = 'How many moons has Mars?';
const CSV = `question,choice 1,choice 2,answer,duration,reveal\n${MOONS},One,Two,Two,6000,auto\n`;
const OPEN_TRIVIA = JSON.stringify({
  response_code: 0,
  results: [
    {
      ...{ type: 'boolean', difficulty: 'easy', category: 'History' },
      question: 'Is &quot;D&quot; 500 in Roman numerals?',
      correct_answer: 'True',
      incorrect_answers: ['False'],
    },
  ],
});

let fixture: StudioFixture;
let owner: OpenedPage;
let moderator: OpenedPage;
let phone: OpenedPage;
let desk: OpenedPage;
let other: OpenedPage;
let display: OpenedPage;
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.startFirst();
}, 30_000);
afterAll(() => fixture?.close());

const path = (part = '') => `${fixture.url}/studio/streams/${streamId}${part}`;
const studio = () => [owner.page, moderator.page];
const viewers = () => [phone.page, desk.page, other.page];
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const quizOf = (page: Page) => page.getByRole('region', { name: 'Quiz' });
const chatOf = (page: Page) => page.getByRole('list', { name: 'Chat' });
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** A chat message as hosts see it. */
const messageOf = (page: Page, text: string) =>
  panel(page, 'Chat').getByRole('article').filter({ hasText: text });

/** Waits until all pages show what `locate` finds. */
async function expectVisible<Surface>(
  pages: readonly Surface[],
  locate: (page: Surface) => Locator,
): Promise<void> {
  await Promise.all(pages.map((page) => locate(page).first().waitFor()));
}

/** Waits until no page shows what `locate` finds. */
async function expectGone(pages: readonly Page[], locate: (page: Page) => Locator): Promise<void> {
  await Promise.all(pages.map((page) => locate(page).waitFor({ state: 'detached' })));
}

/** Number of events of each type that viewers received. */
async function sent(...types: string[]): Promise<number[]> {
  const events = await fixture.sentEvents(owner, streamId);
  return types.map((wanted) => events.filter(({ type }) => type === wanted).length);
}

async function saveViewerScreenshots(name: string): Promise<void> {
  await Promise.all([
    saveScreenshot(phone.page, `viewer-${name}-phone-dark`),
    saveScreenshot(desk.page, `viewer-${name}-desk-light`),
  ]);
}

const goTo = async (page: Page, part: string) => {
  await page.getByRole('link', { name: part, exact: true }).click();
};

describe('a complete show', () => {
  test('[U-12] [U-13] the setup link of the first start creates the owner once', async () => {
    owner = await fixture.open(fixture.setupLink, { viewport: { width: 1_440, height: 900 } });
    const { page } = owner;
    await heading(page, 'Set up your account').waitFor();
    await expectUsable(page, 'first-start');
    await field(page, 'Your name').fill('Ann');
    await field(page, 'Email').fill('ann@example.org');
    await field(page, 'New password').fill(PASSWORD);
    await page.locator('form button[type=submit]').click();
    await heading(page, 'Shows').waitFor();
    expect(page.url()).not.toContain('#');
    await expectUsable(page, 'shows-empty');
    const again = await fixture.open(fixture.setupLink);
    await heading(again.page, 'This link no longer works').waitFor();
    await again.page.getByRole('alert').getByText('Sign in').waitFor();
    await expectUsable(again.page, 'used-link');
    await again.page.getByRole('link', { name: 'Open the studio' }).click();
    await heading(again.page, 'Sign in').waitFor();
    await again.context.close();
  }, 60_000);

  test('[B-11] the owner creates a show and opens its display, and viewers wait for the start', async () => {
    const { page } = owner;
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill(TITLE);
    await page.getByRole('textbox', { name: 'Latency allowance, seconds' }).fill('0.5');
    await expectUsable(page, 'new-show');
    await button(page, 'Create').click();
    await heading(page, TITLE).waitFor();
    streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByText('Waiting for a source.').waitFor();
    await expectUsable(page, 'set-up');
    await button(page, 'Create link').click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    await button(page, 'Done').click();
    [display, phone, desk, other] = await Promise.all([
      fixture.open(link, { viewport: { width: 1_920, height: 1_080 }, colorScheme: 'dark' }),
      fixture.openViewerPage(streamId, { ...SCREENS.phone, colorScheme: 'dark' }),
      fixture.openViewerPage(streamId, { ...SCREENS.desktop, colorScheme: 'light' }),
      fixture.openViewerPage(streamId, { ...SCREENS.phone, colorScheme: 'light' }),
    ]);
    await expectVisible(viewers(), (at) =>
      at.locator('.notice-title', { hasText: 'has not started' }),
    );
    await expectVisible(viewers(), (at) => at.locator('.audience-count', { hasText: '3 waiting' }));
    await heading(display.page, TITLE).waitFor();
    await display.page.getByText('Starting soon').waitFor();
  }, 60_000);

  test('[D-3] [D-7] the owner creates and imports quizzes and reorders them by keyboard', async () => {
    const { page } = owner;
    await goTo(page, 'Rundown');
    await page.getByText('No quizzes yet').waitFor();
    await addQuiz(page, LARGEST, { seconds: 6, isManualReveal: true });
    await button(page, 'Import').click();
    await button(page, 'Try a sample').click();
    await button(page, 'Preview').click();
    await page.getByRole('dialog', { name: 'Import 3 quizzes?' }).waitFor();
    await button(page, 'Back').click();
    await field(page, 'Or paste the content').fill(OPEN_TRIVIA);
    await page.getByRole('button', { name: /Open Trivia Database, JSON/ }).waitFor();
    await button(page, 'Preview').click();
    await page.getByText('Is "D" 500 in Roman numerals?').waitFor();
    await button(page, 'Back').click();
    // No preview creates a quiz.
    expect(await page.getByRole('row', { includeHidden: true }).count()).toBe(1);
    await field(page, 'Or paste the content').fill(CSV);
    await button(page, 'Preview').click();
    const preview = page.getByRole('dialog', { name: 'Import 1 quiz?' });
    await preview.getByText(MOONS).waitFor();
    await expectUsable(page, 'import-preview');
    await preview.getByRole('button', { name: 'Import 1 quiz' }).click();
    await page.getByText('1 quiz added to the rundown.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const rows = page.getByRole('row');
    await rows.nth(1).getByText(MOONS).waitFor();
    // Move to the row and right to its handle; Enter lifts it, Home moves it up, Enter drops it.
    await rows.nth(0).focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await page.getByText(/Started dragging/).waitFor({ state: 'attached' });
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await rows.nth(0).getByText(MOONS).waitFor();
    await page.reload();
    await rows.nth(0).getByText(MOONS).waitFor();
    await rows.nth(1).getByText(LARGEST).waitFor();
    await expectUsable(page, 'rundown');
    // Viewers received none of them.
    expect(await sent('quiz')).toEqual([0]);
  }, 60_000);

  test('[U-9] [U-14] the owner invites a moderator, who sees the same show', async () => {
    const { page } = owner;
    await goTo(page, 'Team');
    await button(page, 'Invite member').click();
    await field(page, 'Email').fill('mo@example.org');
    await page.getByRole('button', { name: /^Host/ }).click();
    await page.getByRole('option', { name: 'Moderator' }).click();
    await button(page, 'Create link').click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    await button(page, 'Done').click();
    await page.getByText('mo@example.org').waitFor();
    moderator = await fixture.open(link, { viewport: { width: 1_024, height: 900 } });
    await heading(moderator.page, 'Join Ann').waitFor();
    await expectUsable(moderator.page, 'join');
    await field(moderator.page, 'Your name').fill('Mo');
    await field(moderator.page, 'New password').fill(PASSWORD);
    await button(moderator.page, 'Join').click();
    await moderator.page.getByRole('link', { name: new RegExp(TITLE) }).click();
    await heading(moderator.page, TITLE).waitFor();
    expect(await moderator.page.getByRole('link', { name: 'API tokens' }).count()).toBe(0);
    await page.reload();
    await page.getByText('Mo', { exact: true }).waitFor();
    await expectUsable(page, 'team');
  }, 60_000);

  test('[B-1] [S-4] the show starts for viewers, hosts and the display, with the audience count', async () => {
    const { page } = owner;
    await page.goto(path('/on-air'));
    await goTo(moderator.page, 'On air');
    await expectVisible(studio(), (at) => at.getByText(/^3$/));
    await button(page, 'Start the show').click();
    await button(page, 'Start without video').click();
    await button(page, 'Send this quiz').waitFor();
    await expectVisible(viewers(), (at) => at.locator('.badge-status', { hasText: 'Live' }));
    await expectVisible(viewers(), (at) =>
      at.locator('.audience-count', { hasText: '3 watching' }),
    );
    await display.page.getByText('3 watching').waitFor();
    await moderator.page.getByText('Send this quiz').waitFor();
    expect(await button(moderator.page, 'Send this quiz').count()).toBe(0);
  }, 60_000);

  test('[B-3] [B-7] the big button sends a quiz, and hosts see live answer counts', async () => {
    const { page } = owner;
    await panel(page, 'Next').getByText(MOONS).waitFor();
    await button(page, 'Send this quiz').click();
    await expectVisible(studio(), (at) => at.getByText(/^Open, \d s$/));
    await expectVisible(viewers(), (at) => quizOf(at).getByRole('heading', { name: MOONS }));
    await heading(display.page, MOONS).waitFor();
    await Promise.all([
      quizOf(phone.page).getByRole('button', { name: 'Two' }).tap(),
      quizOf(desk.page).getByRole('button', { name: 'Two' }).click(),
      quizOf(other.page).getByRole('button', { name: 'One' }).tap(),
    ]);
    await expectVisible(viewers(), (at) => quizOf(at).getByText('Answer locked in!'));
    await expectVisible(studio(), (at) => at.getByText('2 · 67 %'));
    await display.page.getByText('3 answers').waitFor();
    await saveViewerScreenshots('answered');
    await expectVisible(studio(), (at) => at.getByText('Results shown'));
    await expectVisible([phone.page, desk.page], (at) => quizOf(at).getByText('Correct!'));
    await quizOf(other.page).getByText('Not this time.').waitFor();
    await expectVisible([...viewers().map(quizOf), display.page], (at) => at.getByText('67'));
    await display.page.locator('.choice--correct', { hasText: 'Two' }).waitFor();
    await saveViewerScreenshots('results');
    expect(await sent('quiz', 'quiz-results')).toEqual([1, 1]);
  }, 60_000);

  test('[B-3] [I-6] a shortcut sends a quiz with manual results, which only hosts see before the reveal', async () => {
    const { page } = owner;
    await button(page, 'Send this quiz').and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('Control+Enter');
    await expectVisible(viewers(), (at) => quizOf(at).getByRole('heading', { name: LARGEST }));
    await Promise.all([
      quizOf(phone.page).getByRole('button', { name: 'Jupiter' }).tap(),
      quizOf(other.page).getByRole('button', { name: 'Mars' }).tap(),
    ]);
    await expectVisible(studio(), (at) => at.getByText('Closed, results hidden'));
    await quizOf(desk.page).getByText('Results coming soon.').waitFor();
    expect(await sent('quiz', 'quiz-results')).toEqual([2, 1]);
    await display.page.getByText('Time is up').waitFor();
    await expectVisible(studio(), (at) => at.getByText('1 · 50 %'));
    for (const at of [...viewers(), display.page]) expect(await at.getByText('50').count()).toBe(0);
    await expectUsable(moderator.page, 'on-air-moderator');
    await button(page, 'Show the results').click();
    await display.page.locator('.choice--correct', { hasText: 'Jupiter' }).waitFor();
    await quizOf(phone.page).getByText('you can still win').waitFor();
    await quizOf(other.page).getByText('You are out of this round.').waitFor();
    await expectVisible(studio(), (at) => at.getByText('No more quizzes'));
    expect(await sent('quiz', 'quiz-results')).toEqual([2, 2]);
  }, 60_000);

  test('[W-7] [W-8] [W-13] winners are announced to everyone with their count, and by name or code', async () => {
    const { page } = owner;
    await button(page, 'Announce the winners').click();
    await page.getByText('The last round had 1 winner.').waitFor();
    await phone.page.getByRole('heading', { name: 'You won!' }).waitFor();
    await expectVisible([desk.page, other.page], (at) =>
      at.getByRole('heading', { name: 'One viewer won.' }),
    );
    await moderator.page.getByText('Winners: 1').waitFor();
    await display.page.getByText('The winner is').waitFor();
    const code = await phone.page.locator('.winners-code b').innerText();
    expect(code).toMatch(/^[A-Z]{4}-[2-9]{4}$/);
    await heading(display.page, code).waitFor();
    await expectVisible(studio(), (at) => panel(at, 'On screen').getByText(code));
    for (const at of [desk.page, other.page]) expect(await at.getByText(code).count()).toBe(0);
    await saveViewerScreenshots('winners');
    for (const at of viewers()) await button(at, 'Close').click();
    expect(await sent('request-quiz-winners', 'quiz-winners')).toEqual([1, 1]);
  }, 60_000);

  test('[C-1] [C-5] all viewers and hosts read each message', async () => {
    await write(phone.page, 'Ada', 'Good evening!');
    await write(other.page, 'Troll', 'Buy my coins');
    await desk.page.getByRole('radio', { name: 'Question' }).click();
    await desk.page.getByRole('textbox', { name: 'Ask a question' }).fill('How hot is Venus?');
    await desk.page.keyboard.press('Enter');
    await giveName(desk.page, 'Bo');
    for (const text of ['Good evening!', 'Buy my coins', 'How hot is Venus?']) {
      await expectVisible(viewers(), (at) => chatOf(at).getByText(text));
      await expectVisible(studio(), (at) => messageOf(at, text));
    }
    await saveViewerScreenshots('chat');
  }, 60_000);

  test('[C-16] [C-17] [C-20] a moderator hides and pins messages and queues a question', async () => {
    const { page } = moderator;
    await button(page, 'Hide the message from Troll').click();
    await expectVisible(studio(), (at) => messageOf(at, 'Buy my coins').getByText('Hidden'));
    await expectGone(viewers(), (at) => chatOf(at).getByText('Buy my coins'));
    await inMenu(page, 'Good evening!', 'Pin above the chat');
    await expectVisible(studio(), (at) => button(at, 'Unpin message'));
    await expectVisible(viewers(), (at) => at.locator('.pinned', { hasText: 'Good evening!' }));
    await inMenu(page, 'How hot is Venus?', 'Add to queue');
    await expectVisible(studio(), (at) => at.getByRole('tab', { name: 'Queue (1)' }));
    await saveViewerScreenshots('moderated');
    expect(await sent('chat-hidden', 'chat-pinned')).toEqual([1, 1]);
  }, 60_000);

  test('[C-9] [P-24] viewers receive discounts and a purchase', async () => {
    const { page } = owner;
    await page.getByRole('textbox', { name: 'Redeemed discounts' }).fill('4');
    await button(page, 'Send to viewers').click();
    await page.getByRole('tab', { name: 'Purchase' }).click();
    await field(page, 'Buyer').fill('Cleo');
    await field(page, 'Purchase text').fill('bought two mugs');
    await button(page, 'Send to viewers').click();
    await expectVisible(viewers(), (at) => chatOf(at).getByText('4 used'));
    await expectVisible(viewers(), (at) => chatOf(at).getByText('Cleo bought two mugs'));
    await expectVisible(studio(), (at) =>
      at.getByRole('list', { name: 'Purchases' }).getByText('Cleo'),
    );
    const list = (at: Page) => at.getByRole('list', { name: 'Sent events' });
    await expectVisible(studio(), (at) => list(at).getByText('Discounts: 4'));
    await expectVisible(studio(), (at) => list(at).getByText('Purchases: Cleo bought two mugs'));
    await expectUsable(page, 'on-air');
  }, 60_000);

  test('[C-18] [C-19] a moderator mutes and bans a viewer', async () => {
    const { page } = moderator;
    await inMenu(page, 'Buy my coins', 'Mute for 10 minutes');
    await expectVisible(studio(), (at) => messageOf(at, 'Buy my coins').getByText('Muted'));
    await other.page.getByRole('textbox', { name: 'Write a message' }).fill('Coins!');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('alert').getByText(/muted/i).waitFor();
    await inMenu(page, 'Buy my coins', 'Ban…');
    await button(page, 'Ban').click();
    await expectVisible(studio(), (at) => messageOf(at, 'Buy my coins').getByText('Banned'));
    await heading(other.page, 'You cannot watch this show').waitFor();
    await expectVisible(studio(), (at) => panel(at, 'Audience').getByText('2', { exact: true }));
    await expectVisible([phone.page, desk.page], (at) =>
      at.locator('.audience-count', { hasText: '2 watching' }),
    );
    await display.page.getByText('2 watching').waitFor();
    await saveScreenshot(other.page, 'viewer-banned-phone-light');
  }, 60_000);

  test('[S-4] the show ends for everyone', async () => {
    const { page } = owner;
    await goTo(page, 'Set up');
    await button(page, 'End the show').click();
    await button(page, 'End show').click();
    await page.getByText('Ended', { exact: true }).first().waitFor();
    await moderator.page.getByText('The show has ended', { exact: true }).waitFor();
    await expectVisible([phone.page, desk.page], (at) =>
      at.getByText('The show is over. The chat is closed.'),
    );
    await heading(display.page, 'Thank you!').waitFor();
    await saveViewerScreenshots('over');
  }, 60_000);

  test('[S-19] the owner reopens the show on air and ends it again', async () => {
    const { page } = owner;
    await goTo(page, 'On air');
    await button(page, 'Reopen the show').click();
    await page.getByText('The show is open again.').waitFor();
    await button(page, 'Reopen the show').waitFor({ state: 'detached' });
    await goTo(page, 'Set up');
    await button(page, 'End the show').click();
    await button(page, 'End show').click();
    await page.getByText('Ended', { exact: true }).first().waitFor();
  }, 60_000);

  test('[J-1] the report matches the show', async () => {
    const { page } = owner;
    await goTo(page, 'Report');
    const quizzes = panel(page, 'Quizzes').getByRole('listitem');
    await quizzes.first().waitFor();
    expect(await quizzes.allTextContents()).toEqual([
      expect.stringContaining(MOONS),
      ...['One1 · 33 %', 'Two ✓ correct2 · 67 %'],
      expect.stringContaining(LARGEST),
      ...['Mars1 · 50 %', 'Jupiter ✓ correct1 · 50 %'],
    ]);
    await panel(page, 'Winners').getByText('1 winner', { exact: true }).waitFor();
    await panel(page, 'Fairness')
      .getByText(/^Of 5 answers the first came/)
      .waitFor();
    const chatFigures = await panel(page, 'Chat').locator('dl > div').allTextContents();
    expect(chatFigures).toEqual(expect.arrayContaining(['Messages2', 'Questions1', 'Discounts4']));
    await expectUsable(page, 'report');
    expect(await moderator.page.getByRole('link', { name: 'Report' }).count()).toBe(0);
  }, 60_000);

  test('all pages logged no errors', () => {
    expect([owner, moderator, phone, desk, other, display].flatMap(({ errors }) => errors)).toEqual(
      [],
    );
  });
});

/** Sends a chat message as a viewer; the first one asks for a name. */
async function write(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Write a message' }).fill(text);
  await page.keyboard.press('Enter');
  await giveName(page, name);
}

async function giveName(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.keyboard.press('Enter');
}

/** Selects an action in the menu of a message. */
async function inMenu(page: Page, text: string, item: string): Promise<void> {
  await messageOf(page, text)
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}
