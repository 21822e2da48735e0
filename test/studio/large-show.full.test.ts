import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { QUIZZES_PER_IMPORT_MAX } from '../../protocol/limits.ts';
import { fillChat, messageText } from '../support/studio/fill-chat.ts';
import { longestTask } from '../support/studio/long-tasks.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';

// A show at its limits: 500 quizzes and 100,000 messages. No page blocks the main thread for long.
// Tasks count by CPU time, and one is too long only when each attempt is. A slow machine takes long
// for any page: there, the limit is relative to opening a rundown of one screen.

const MESSAGES = 100_000;
/** Longer tasks are visible as stutter. */
const LONG_TASK_MS = 100;
/** Limit on a slow machine, relative to the longest task of opening a small rundown. */
const SLOWER_THAN_SMALL_MAX = 1.5;
const QUIZZES_OF_ONE_SCREEN = 16;
const ATTEMPTS = 3;
/** A page keeps at least this many received messages, and each is at least this high. */
const KEPT_MESSAGES = 4_900;
const ROW_MIN_PX = 40;

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;
let firstInterval: number;
let limitMs: number;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const smallId = await createStream(QUIZZES_OF_ONE_SCREEN);
  streamId = await createStream(QUIZZES_PER_IMPORT_MAX);
  await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
  await fixture.kill();
  firstInterval = await fillChat(fixture.data, streamId, MESSAGES);
  await fixture.restart();
  await owner.page.goto(`${fixture.url}/studio/streams/${smallId}`);
  const smallMs: number[] = [];
  for (let n = 0; n < ATTEMPTS; n++) {
    smallMs.push((await longestTask(owner.page, openRundown)).cpuMs);
  }
  limitMs = Math.max(LONG_TASK_MS, SLOWER_THAN_SMALL_MAX * Math.min(...smallMs));
  await owner.page.goto(`${fixture.url}/studio/streams/${streamId}`);
}, 60_000);
afterAll(() => fixture?.close());

/** Creates a stream with a number of quizzes; returns its id. */
async function createStream(quizCount: number): Promise<string> {
  const { id } = await fixture.call<{ id: string }>(owner, 'POST', '/streams', { title: 'A show' });
  await fixture.call(owner, 'POST', `/streams/${id}/quizzes/import`, {
    format: 'fourbeat-json',
    text: JSON.stringify({ quizzes: Array.from({ length: quizCount }, quizOf) }),
  });
  return id;
}

function quizOf(_: unknown, n: number) {
  const choices = ['Mercury', 'Venus', 'Mars', 'Jupiter'];
  return { question: `Question ${n + 1}: which planet?`, choices, answer: choices[n % 4] };
}

/** Repeats an action until its longest task is short, and fails after all attempts. */
async function expectSmooth(
  what: string,
  action: (attempt: number) => Promise<void>,
): Promise<void> {
  const durationsMs: number[] = [];
  while (durationsMs.length < ATTEMPTS && !durationsMs.some((ms) => ms < limitMs)) {
    const { cpuMs } = await longestTask(owner.page, () => action(durationsMs.length));
    durationsMs.push(Math.round(cpuMs));
  }
  console.log(
    `${what}: longest task ${durationsMs.join(', ')} ms, limit ${Math.round(limitMs)} ms`,
  );
  expect([what, Math.min(...durationsMs) < limitMs ? 'smooth' : durationsMs]).toEqual([
    what,
    'smooth',
  ]);
}

const goTo = (part: string) => owner.page.getByRole('link', { name: part, exact: true }).click();
const quizList = () => owner.page.getByRole('grid', { name: 'Quizzes' });
const openRundown = async () => {
  await goTo('Set up');
  await goTo('Rundown');
  await quizList().waitFor();
  await owner.page.waitForTimeout(600);
};
const wheel = async (times: number, px: number) => {
  for (let n = 0; n < times; n++) {
    await owner.page.mouse.wheel(0, px);
    await owner.page.waitForTimeout(40);
  }
};

describe('a rundown with 500 quizzes', () => {
  test('opens and scrolls without long tasks', async () => {
    const list = quizList();
    await expectSmooth('opening the rundown', openRundown);
    await list.hover();
    await expectSmooth('scrolling the rundown', () => wheel(20, 900));
    await list
      .getByText(/^Question 2\d\d:/)
      .first()
      .waitFor();
  }, 60_000);

  test('[D-3] moves the last quiz to the top by keyboard without long tasks', async () => {
    const { page } = owner;
    const rows = page.getByRole('row');
    await expectSmooth('moving the last quiz to the top', async (attempt) => {
      await rows.first().focus();
      await page.keyboard.press('End');
      await page.locator('[role=row]:focus', { hasText: `Question ${500 - attempt}:` }).waitFor();
      for (const key of ['ArrowRight', 'Enter']) await page.keyboard.press(key);
      const target = '[aria-roledescription="drop indicator"]:focus';
      await page.locator(target).waitFor({ state: 'attached' });
      await page.keyboard.press('Home');
      await page.locator(`${target}[aria-label^="Insert before"]`).waitFor({ state: 'attached' });
      await page.keyboard.press('Enter');
      await rows
        .first()
        .getByText(`Question ${500 - attempt}:`)
        .waitFor();
    });
  }, 60_000);
});

describe('an on-air page with 500 quizzes and 100,000 messages', () => {
  const chat = () => owner.page.getByRole('feed');

  test('opens without long tasks', async () => {
    const { page } = owner;
    await expectSmooth('opening the show', async () => {
      await goTo('Rundown');
      await goTo('On air');
      await chat().getByText(messageText(MESSAGES), { exact: true }).waitFor();
      await page.waitForTimeout(600);
    });
  }, 60_000);

  test('[B-10] loads earlier messages while the user scrolls', async () => {
    const { page } = owner;
    const height = () =>
      page.evaluate<number>("document.querySelector('[role=feed]').scrollHeight");
    await chat().hover();
    await expectSmooth('scrolling the chat', async () => {
      const before = await height();
      await wheel(60, 1_500);
      expect(await height()).toBeGreaterThan(before);
    });
    await expectSmooth('scrolling back', () => wheel(20, -1_500));
  }, 60_000);

  test('[B-2] receives all messages at once, as after a suspension', async () => {
    const { page } = owner;
    // The page requests the intervals it misses; here it misses all of them.
    await page.route(/\/live$/, (route) =>
      route.continue({ url: `${route.request().url()}?interval=${firstInterval}` }),
    );
    await goTo('Rundown');
    const hasAllMessages = `document.querySelector('[role=feed]').scrollHeight > ${KEPT_MESSAGES * ROW_MIN_PX}`;
    await expectSmooth('receiving all messages at once', async () => {
      await goTo('On air');
      await chat().getByText(messageText(MESSAGES), { exact: true }).waitFor();
      await page.waitForFunction(hasAllMessages);
      await page.waitForTimeout(600);
      await goTo('Rundown');
    });
  }, 60_000);

  test('logged no errors', () => {
    expect(owner.errors).toEqual([]);
  });
});
