import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import {
  button,
  expectUsable,
  field,
  saveScreenshot,
  writeQuiz,
} from '../support/studio/studio-pages.ts';

// A complete show, from the first start of a service to the report: an owner and a moderator at work,
// three who watch, on two telephones and a desk, and the wall behind the host. What each does is looked
// for on both sides. Each test goes on where the one before stopped.

const TITLE = 'Friday quiz night';
const LARGEST = 'Which planet is the largest?';
const MOONS = 'How many moons has Mars?';
const FILE = `question,choice 1,choice 2,answer,duration,reveal\n${MOONS},One,Two,Two,6000,auto\n`;

let fixture: StudioFixture;
let owner: OpenedPage;
let moderator: OpenedPage;
let phone: OpenedPage;
let desk: OpenedPage;
let other: OpenedPage;
let wall: OpenedPage;
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
/** A line of the chat, as those at work have it. */
const lineOf = (page: Page, text: string) =>
  panel(page, 'Chat').getByRole('article').filter({ hasText: text });

/** All of them see it. */
async function see<Place>(
  pages: readonly Place[],
  locate: (page: Place) => Locator,
): Promise<void> {
  await Promise.all(pages.map((page) => locate(page).first().waitFor()));
}

/** None of them sees it any more. */
async function missSoon(pages: readonly Page[], locate: (page: Page) => Locator): Promise<void> {
  await Promise.all(pages.map((page) => locate(page).waitFor({ state: 'detached' })));
}

/** How many events of each type viewers were sent. */
async function sent(...types: string[]): Promise<number[]> {
  const events = await fixture.sentEvents(owner, streamId);
  return types.map((wanted) => events.filter(({ type }) => type === wanted).length);
}

async function keepViewers(name: string): Promise<void> {
  await Promise.all([
    saveScreenshot(phone.page, `viewer-${name}-phone-dark`),
    saveScreenshot(desk.page, `viewer-${name}-desk-light`),
  ]);
}

const goTo = async (page: Page, part: string) => {
  await page.getByRole('link', { name: part, exact: true }).click();
};

describe('a complete show', () => {
  test('[U-12] [U-13] the owner comes by the link that the first start printed, once', async () => {
    owner = await fixture.open(fixture.setupLink, { viewport: { width: 1_440, height: 900 } });
    const { page } = owner;
    await heading(page, 'Make this service yours').waitFor();
    await expectUsable(page, 'first-start');
    await field(page, 'Your name').fill('Ann');
    await field(page, 'E-mail').fill('ann@example.org');
    await field(page, 'New password').fill(PASSWORD);
    await page.locator('form button[type=submit]').click();
    await heading(page, 'Shows').waitFor();
    expect(page.url()).not.toContain('#');
    await expectUsable(page, 'shows-empty');
    const again = await fixture.open(fixture.setupLink);
    await field(again.page, 'Your name').fill('Eve');
    await field(again.page, 'E-mail').fill('eve@example.org');
    await field(again.page, 'New password').fill(PASSWORD);
    await again.page.locator('form button[type=submit]').click();
    await again.page.getByRole('alert').waitFor();
    await again.context.close();
  }, 60_000);

  test('[B-11] makes a show, which waits for its source; a wall is set up, and three come early', async () => {
    const { page } = owner;
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill(TITLE);
    await page.getByRole('textbox', { name: 'Latency allowance, seconds' }).fill('0.5');
    await expectUsable(page, 'new-show');
    await button(page, 'Make it').click();
    await heading(page, TITLE).waitFor();
    streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByText('Waiting for a source.').waitFor();
    await expectUsable(page, 'set-up');
    await button(page, 'Make a link').click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    await button(page, 'Done').click();
    [wall, phone, desk, other] = await Promise.all([
      fixture.open(link, { viewport: { width: 1_920, height: 1_080 }, colorScheme: 'dark' }),
      fixture.watchPage(streamId, { ...SCREENS.phone, colorScheme: 'dark' }),
      fixture.watchPage(streamId, { ...SCREENS.desk, colorScheme: 'light' }),
      fixture.watchPage(streamId, { ...SCREENS.phone, colorScheme: 'light' }),
    ]);
    await see(viewers(), (at) => at.locator('.notice-title', { hasText: 'has not begun' }));
    await see(viewers(), (at) => at.locator('.audience-count', { hasText: '3 waiting' }));
    await heading(wall.page, TITLE).waitFor();
    await wall.page.getByText('It begins soon.').waitFor();
  }, 60_000);

  test('[D-3] [D-7] writes quizzes, reads one from a file, and lays them out by keyboard', async () => {
    const { page } = owner;
    await goTo(page, 'Rundown');
    await page.getByText('No quizzes yet').waitFor();
    await writeQuiz(page, LARGEST, { seconds: 6, isManualReveal: true });
    await button(page, 'Import').click();
    await field(page, 'Or paste its text').fill(FILE);
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const rows = page.getByRole('row');
    await rows.nth(1).getByText(MOONS).waitFor();
    // As by Tab and arrows: down to it, right to its handle; Enter lifts it, an arrow carries it up, and
    // Enter lets it go.
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
    // Viewers were told of none.
    expect(await sent('quiz')).toEqual([0]);
  }, 60_000);

  test('[U-9] [U-14] invites a moderator, who comes by the link and sees the same show', async () => {
    const { page } = owner;
    await goTo(page, 'Team');
    await button(page, 'Invite somebody').click();
    await field(page, 'E-mail').fill('mo@example.org');
    await page.getByRole('button', { name: /^Host/ }).click();
    await page.getByRole('option', { name: 'Moderator' }).click();
    await button(page, 'Make a link').click();
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

  test('[B-1] [S-4] starts by hand: it begins for all, and both at work see who watches', async () => {
    const { page } = owner;
    await page.goto(path('/on-air'));
    await goTo(moderator.page, 'On air');
    await see(studio(), (at) => at.getByText(/^3$/));
    await button(page, 'Start the show').click();
    await button(page, 'Send this quiz').waitFor();
    await see(viewers(), (at) => at.locator('.badge-status', { hasText: 'Live' }));
    await see(viewers(), (at) => at.locator('.audience-count', { hasText: '3 watching' }));
    await wall.page.getByText('3 watching').waitFor();
    await moderator.page.getByText('Send this quiz').waitFor();
    expect(await button(moderator.page, 'Send this quiz').count()).toBe(0);
  }, 60_000);

  test('[B-3] [B-7] sends a quiz by the big button; those at work see answers as they come', async () => {
    const { page } = owner;
    await page.getByText(MOONS).waitFor();
    await button(page, 'Send this quiz').click();
    await see(studio(), (at) => at.getByText(/^Open, \d s$/));
    await see(viewers(), (at) => quizOf(at).getByRole('heading', { name: MOONS }));
    await heading(wall.page, MOONS).waitFor();
    await Promise.all([
      quizOf(phone.page).getByRole('button', { name: 'Two' }).tap(),
      quizOf(desk.page).getByRole('button', { name: 'Two' }).click(),
      quizOf(other.page).getByRole('button', { name: 'One' }).tap(),
    ]);
    await see(viewers(), (at) => quizOf(at).getByText('Your answer counts.'));
    await see(studio(), (at) => at.getByText('2 · 67 %'));
    await wall.page.getByText('3 answers').waitFor();
    await keepViewers('answered');
    await see(studio(), (at) => at.getByText('Results are shown'));
    await see([phone.page, desk.page], (at) => quizOf(at).getByText('Correct!'));
    await quizOf(other.page).getByText('Not this time.').waitFor();
    await see([...viewers().map(quizOf), wall.page], (at) => at.getByText('67'));
    await wall.page.locator('.choice--correct', { hasText: 'Two' }).waitFor();
    await keepViewers('results');
    expect(await sent('quiz', 'quiz-results')).toEqual([1, 1]);
  }, 60_000);

  test('[B-3] [I-6] sends one by the keyboard, and shows its results by hand: until then they are for those at work alone', async () => {
    const { page } = owner;
    await button(page, 'Send this quiz').and(page.locator(':enabled')).waitFor();
    await page.keyboard.press('Control+Enter');
    await see(viewers(), (at) => quizOf(at).getByRole('heading', { name: LARGEST }));
    await Promise.all([
      quizOf(phone.page).getByRole('button', { name: 'Jupiter' }).tap(),
      quizOf(other.page).getByRole('button', { name: 'Mars' }).tap(),
    ]);
    await see(studio(), (at) => at.getByText('Closed, results not shown'));
    await quizOf(desk.page).getByText('The results come soon.').waitFor();
    expect(await sent('quiz', 'quiz-results')).toEqual([2, 1]);
    await wall.page.getByText('Time is up').waitFor();
    await see(studio(), (at) => at.getByText('1 · 50 %'));
    for (const at of [...viewers(), wall.page]) expect(await at.getByText('50').count()).toBe(0);
    await expectUsable(moderator.page, 'on-air-moderator');
    await button(page, 'Show the results').click();
    await wall.page.locator('.choice--correct', { hasText: 'Jupiter' }).waitFor();
    await quizOf(phone.page).getByText('you can still win').waitFor();
    await quizOf(other.page).getByText('You are out of this round.').waitFor();
    await see(studio(), (at) => at.getByText('No quiz is prepared'));
    expect(await sent('quiz', 'quiz-results')).toEqual([2, 2]);
  }, 60_000);

  test('[W-7] [W-8] asks for the winners, and all learn how many there are', async () => {
    const { page } = owner;
    await button(page, 'Ask for the winners').click();
    await page.getByText('The last round had 1 winner.').waitFor();
    await phone.page.getByRole('heading', { name: 'You have won!' }).waitFor();
    await see([desk.page, other.page], (at) =>
      at.getByRole('heading', { name: 'One viewer has won.' }),
    );
    await moderator.page.getByText('Winners: 1').waitFor();
    await wall.page.getByText('winner!').waitFor();
    await keepViewers('winners');
    for (const at of viewers()) await button(at, 'Close').click();
    expect(await sent('request-quiz-winners', 'quiz-winners')).toEqual([1, 1]);
  }, 60_000);

  test('[C-1] [C-5] all read what one writes, and so do those at work', async () => {
    await write(phone.page, 'Ada', 'Good evening!');
    await write(other.page, 'Troll', 'Buy my coins');
    await desk.page.getByRole('radio', { name: 'Question' }).click();
    await desk.page.getByRole('textbox', { name: 'Ask a question' }).fill('How hot is Venus?');
    await desk.page.keyboard.press('Enter');
    await giveName(desk.page, 'Bo');
    for (const text of ['Good evening!', 'Buy my coins', 'How hot is Venus?']) {
      await see(viewers(), (at) => chatOf(at).getByText(text));
      await see(studio(), (at) => lineOf(at, text));
    }
    await keepViewers('chat');
  }, 60_000);

  test('[C-16] [C-17] [C-20] a moderator hides a line, pins one, and puts a question into the queue', async () => {
    const { page } = moderator;
    await button(page, 'Hide what Troll wrote').click();
    await see(studio(), (at) => lineOf(at, 'Buy my coins').getByText('Hidden'));
    await missSoon(viewers(), (at) => chatOf(at).getByText('Buy my coins'));
    await inMenu(page, 'Good evening!', 'Pin above the chat');
    await see(studio(), (at) => button(at, 'Take the pinned line down'));
    await see(viewers(), (at) => at.locator('.pinned', { hasText: 'Good evening!' }));
    await inMenu(page, 'How hot is Venus?', 'Put into the queue');
    await see(studio(), (at) => at.getByRole('tab', { name: 'Queue (1)' }));
    await keepViewers('moderated');
    expect(await sent('chat-hidden', 'chat-pinned')).toEqual([1, 1]);
  }, 60_000);

  test('[C-9] [P-24] discounts and a purchase are told to all', async () => {
    const { page } = owner;
    await page.getByRole('textbox', { name: 'Discounts that were taken' }).fill('4');
    await button(page, 'Tell the viewers').click();
    await page.getByRole('tab', { name: 'Purchase' }).click();
    await field(page, 'Who').fill('Cleo');
    await field(page, 'What they did').fill('bought two mugs');
    await button(page, 'Tell the viewers').click();
    await see(viewers(), (at) => chatOf(at).getByText('4 were taken'));
    await see(viewers(), (at) => chatOf(at).getByText('Cleo bought two mugs'));
    await see(studio(), (at) => at.getByRole('list', { name: 'Purchases' }).getByText('Cleo'));
    const sent = (at: Page) => at.getByRole('list', { name: 'Sent events' });
    await see(studio(), (at) => sent(at).getByText('Discounts: 4'));
    await see(studio(), (at) => sent(at).getByText('Purchases: Cleo bought two mugs'));
    await expectUsable(page, 'on-air');
  }, 60_000);

  test('[C-18] [C-19] a moderator mutes a viewer, and sends them out', async () => {
    const { page } = moderator;
    await inMenu(page, 'Buy my coins', 'Mute for 10 minutes');
    await see(studio(), (at) => lineOf(at, 'Buy my coins').getByText('Muted'));
    await other.page.getByRole('textbox', { name: 'Write a message' }).fill('Coins!');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('alert').getByText(/muted/i).waitFor();
    await inMenu(page, 'Buy my coins', 'Ban …');
    await button(page, 'Ban').click();
    await see(studio(), (at) => lineOf(at, 'Buy my coins').getByText('Banned'));
    await heading(other.page, 'You cannot watch this show any more').waitFor();
    await see(studio(), (at) => panel(at, 'Audience').getByText('2', { exact: true }));
    await see([phone.page, desk.page], (at) =>
      at.locator('.audience-count', { hasText: '2 watching' }),
    );
    await wall.page.getByText('2 watching').waitFor();
    await saveScreenshot(other.page, 'viewer-banned-phone-light');
  }, 60_000);

  test('[S-4] ends it: it is over for all', async () => {
    const { page } = owner;
    await goTo(page, 'Set up');
    await button(page, 'End the show').click();
    await button(page, 'End it').click();
    await page.getByText('Over', { exact: true }).waitFor();
    await moderator.page.getByText('The show is over', { exact: true }).waitFor();
    await see([phone.page, desk.page], (at) =>
      at.getByText('The show is over. The chat is closed.'),
    );
    await heading(wall.page, 'Thank you!').waitFor();
    await keepViewers('over');
  }, 60_000);

  test('[J-1] reads the report: what it says is what everybody did', async () => {
    const { page } = owner;
    await goTo(page, 'Report');
    const quizzes = panel(page, 'Quizzes').getByRole('listitem');
    await quizzes.first().waitFor();
    expect(await quizzes.allTextContents()).toEqual([
      expect.stringContaining(MOONS),
      ...['One1 · 33 %', 'Two ✓ right2 · 67 %'],
      expect.stringContaining(LARGEST),
      ...['Mars1 · 50 %', 'Jupiter ✓ right1 · 50 %'],
    ]);
    await panel(page, 'Winners').getByText('1 winner', { exact: true }).waitFor();
    await panel(page, 'Fairness')
      .getByText(/^Of 5 answers the first came/)
      .waitFor();
    const said = await panel(page, 'Chat').locator('dl > div').allTextContents();
    expect(said).toEqual(expect.arrayContaining(['Messages2', 'Questions1', 'Discounts4']));
    await expectUsable(page, 'report');
    expect(await moderator.page.getByRole('link', { name: 'Report' }).count()).toBe(0);
  }, 60_000);

  test('made no errors on the way', () => {
    expect([owner, moderator, phone, desk, other, wall].flatMap(({ errors }) => errors)).toEqual(
      [],
    );
  });
});

/** A viewer writes a line; the name is asked for with the first. */
async function write(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Write a message' }).fill(text);
  await page.keyboard.press('Enter');
  await giveName(page, name);
}

async function giveName(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.keyboard.press('Enter');
}

/** Does something about a line of the chat. */
async function inMenu(page: Page, text: string, item: string): Promise<void> {
  await lineOf(page, text)
    .getByRole('button', { name: /^What to do about/ })
    .click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}
