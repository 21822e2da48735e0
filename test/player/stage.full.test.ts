import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { axeViolations } from '../support/player/axe.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import { until } from '../support/until.ts';

// The picture of the viewer page and its controls, in a browser.

const PLAYING = { isPlaying: true };
const VIDEO = "document.querySelector('video')";
/** What strict browsers do: no sound before the viewer asked for it, or nothing at all. */
const refuse = (what: string) => `
  let isAsked = false;
  addEventListener('click', () => { isAsked = true; }, true);
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = async function () {
    if (${what} && !isAsked) throw new DOMException('', 'NotAllowedError');
    return play.call(this);
  };`;
const UNKNOWN_ELEMENTS = `
  (function unknownIn(root) {
    return [...root.querySelectorAll('*')].flatMap((element) => [
      ...(element.matches(':not(:defined)') ? [element.localName] : []),
      ...(element.shadowRoot ? unknownIn(element.shadowRoot) : []),
    ]);
  })(document)`;

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

const video = <T>(page: Page, member: string) => page.evaluate<T>(`${VIDEO}.${member}`);
const plays = (page: Page) => until('the picture', () => video<number>(page, 'currentTime'));
const heightIs = (page: Page, height: number) =>
  until(`${height} lines`, async () => (await video(page, 'videoHeight')) === height);

test('the viewer follows the picture, by the wall clock of its frames', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await plays(page);
  expect(await page.evaluate<number>('viewer.picture.wallClockMs()')).toBeGreaterThan(1e12);
}, 20_000);

describe('the quality menu', () => {
  test('has what there is, and what is chosen is played', async () => {
    const page = await fixture.open('live', 'desktop', PLAYING);
    await plays(page);
    // All that the controls are made of is loaded, the menu’s lines too.
    await page.getByRole('button', { name: 'quality' }).click();
    expect(await page.evaluate<string[]>(UNKNOWN_ELEMENTS)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('menuitemradio', { name: '180p' }).click();
    await heightIs(page, 180);
    await page.getByRole('button', { name: 'quality' }).click();
    await page.getByRole('menuitemradio', { name: '360p', exact: true }).click();
    await heightIs(page, 360);
  }, 20_000);

  test('is for keyboards too', async () => {
    const page = await fixture.open('live', 'desktop', PLAYING);
    await plays(page);
    await page.getByRole('button', { name: 'quality' }).focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitemradio', { name: '180p' });
    await item.waitFor();
    await until('a line with the focus', () =>
      page.evaluate<boolean>("document.activeElement.localName === 'media-rendition-menu'"),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heightIs(page, 180);
  }, 20_000);
});

describe('a browser that refuses', () => {
  test('sound plays without it, until the viewer turns it on', async () => {
    const page = await fixture.open('live', 'phone', {
      ...PLAYING,
      script: refuse('!this.muted'),
    });
    const button = page.getByRole('button', { name: 'Turn on sound' });
    await button.waitFor();
    expect(await video<boolean>(page, 'muted')).toBe(true);
    await button.tap();
    expect(await video<boolean>(page, 'muted')).toBe(false);
    await button.waitFor({ state: 'detached' });
    // Who turns it off again is not asked.
    await page.evaluate(`${VIDEO}.muted = true`);
    expect(await button.count()).toBe(0);
  }, 20_000);

  test('everything is asked by a press of the viewer', async () => {
    const page = await fixture.open('live', 'phone', { ...PLAYING, script: refuse('true') });
    await page.getByText('Press play to watch').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).tap();
    await plays(page);
    await page.getByText('Press play to watch').waitFor({ state: 'detached' });
  }, 20_000);
});

describe('the whole screen', () => {
  test('has the quiz as well', async () => {
    const page = await fixture.open('quiz-open', 'desktop', PLAYING);
    await plays(page);
    await page.getByRole('button', { name: 'enter fullscreen mode' }).click();
    await until('the whole screen', () =>
      page.evaluate("document.fullscreenElement?.id === 'stage'"),
    );
    await page.getByRole('button', { name: /Jupiter/ }).click();
    expect(await page.evaluate<string[]>('[...viewer.calls]')).toEqual(['answer Jupiter']);
  }, 20_000);

  describe('where only a bare video can have it', () => {
    const BARE_VIDEO_ONLY = {
      ...PLAYING,
      script:
        "Object.defineProperty(Document.prototype, 'fullscreenEnabled', { get: () => false })",
    };
    const fills = (page: Page) =>
      page.evaluate<boolean>(`(({ top, left, right, bottom }) =>
        top === 0 && left === 0 && right === innerWidth && bottom === innerHeight
      )(document.querySelector('#stage').getBoundingClientRect())`);

    // What no quiz covers.
    const LEFT_EDGE = { x: 5, y: 200 };

    test('is the window, with the quiz, and a button goes back', async () => {
      const page = await fixture.open('quiz-open', 'landscape', BARE_VIDEO_ONLY);
      await plays(page);
      expect(await page.locator('media-fullscreen-button').count()).toBe(0);
      const button = page.getByRole('button', { name: 'Fill window', exact: true });
      await page.locator('video').tap({ position: LEFT_EDGE });
      await button.tap();
      expect(await fills(page)).toBe(true);
      expect(await button.getAttribute('aria-pressed')).toBe('true');
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: /Jupiter/ }).tap();
      expect(await page.evaluate<string[]>('[...viewer.calls]')).toEqual(['answer Jupiter']);
      await page.locator('video').tap({ position: LEFT_EDGE });
      await button.tap();
      expect(await fills(page)).toBe(false);
    }, 20_000);

    test('is the window by the keyboard, which stays there, and Escape goes back', async () => {
      const page = await fixture.open('quiz-open', 'desktop', BARE_VIDEO_ONLY);
      await plays(page);
      const button = page.getByRole('button', { name: 'Fill window', exact: true });
      await button.press('Enter');
      expect(await fills(page)).toBe(true);
      // Nothing that is covered is reached.
      const takesFocus = () =>
        page.evaluate<boolean>(
          "(box => (box.focus(), box === document.activeElement))(document.querySelector('.field'))",
        );
      expect(await takesFocus()).toBe(false);
      await page.getByRole('button', { name: 'Hide the quiz' }).press('Escape');
      await page.getByRole('button', { name: 'Show the quiz' }).waitFor();
      expect(await fills(page)).toBe(true);
      await button.focus();
      await page.keyboard.press('Escape');
      expect(await fills(page)).toBe(false);
      expect(await button.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
      expect(await takesFocus()).toBe(true);
    }, 20_000);

    test('is not offered to a picture that has the window', async () => {
      const page = await fixture.open('live&bare', 'desktop', BARE_VIDEO_ONLY);
      await plays(page);
      expect(await page.locator('media-mute-button').count()).toBe(1);
      expect(await page.locator('.stage-fill').count()).toBe(0);
    }, 20_000);
  });
});

test('controls stay while the keyboard is on one of them, and go when it leaves', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await plays(page);
  await page.clock.install();
  const opacity = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('media-control-bar')).opacity");
  // One comes by the keyboard to what is before it.
  await page.locator('media-play-button').focus();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.localName')).toBe('media-mute-button');
  await until('the controls', async () => (await opacity()) === '1');
  await page.clock.runFor(10_000);
  // Long enough for them to have begun to go.
  await Bun.sleep(300);
  expect(await opacity()).toBe('1');
  await page.getByRole('textbox').focus();
  await until('no controls', async () => (await opacity()) === '0');
}, 20_000);

test('a show that ends while it is watched can be watched again', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await plays(page);
  await page.evaluate(`${VIDEO}.currentTime = 59`);
  await page.getByText('The show is over').waitFor();
  expect(await page.evaluate<unknown>('viewer.picture')).toBeNull();
  await page.getByRole('button', { name: 'Watch again' }).click();
  await until('the beginning', async () => (await video<number>(page, 'currentTime')) < 30);
  await page.getByText('The show is over').waitFor({ state: 'detached' });
  expect(await page.evaluate<number>('viewer.picture.wallClockMs()')).toBeGreaterThan(1e12);
}, 20_000);

test('a player that could not be loaded is loaded again with the page', async () => {
  const page = await fixture.open('lobby', 'desktop', PLAYING);
  await page.route('**/hls-source-*.js', (route) => route.abort(), { times: 1 });
  await page.evaluate(
    "viewer.show({ stream: { ...viewer.snapshot.stream, status: 'STREAMING' } })",
  );
  await page.getByText('The video player did not load').waitFor();
  expect(await page.evaluate<unknown>('viewer.picture')).toBeNull();
  await page.evaluate("history.replaceState(null, '', '/?scene=live')");
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Reload the page' }).click();
  await loaded;
  await page.locator('video').waitFor();
  await plays(page);
}, 20_000);

test('a picture that is lost keeps nobody from what happens', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await plays(page);
  await page.clock.install();
  await page.evaluate(`${VIDEO}.dispatchEvent(new Event('waiting'))`);
  await page.clock.runFor(2_000);
  await page.getByText('The video is interrupted').waitFor();
  expect(await page.evaluate<unknown>('viewer.picture')).not.toBeNull();
  await page.clock.runFor(10_000);
  expect(await page.evaluate<unknown>('viewer.picture')).toBeNull();
  await page.getByText('The video is interrupted').waitFor();
}, 20_000);

test('before the show nothing is played, and its start is seen', async () => {
  const page = await fixture.open('lobby', 'desktop', PLAYING);
  await page.getByText('The show has not started yet').waitFor();
  expect(await video<string>(page, 'currentSrc')).toBe('');
  await page.evaluate(
    "viewer.show({ stream: { ...viewer.snapshot.stream, status: 'STREAMING' } })",
  );
  await plays(page);
}, 20_000);
