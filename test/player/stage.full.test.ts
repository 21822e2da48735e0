import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { axeViolations } from '../support/player/axe.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import { until } from '../support/until.ts';

// The video of the watch page and its controls, in a browser.

const PLAYING = { isPlaying: true };
const VIDEO = "document.querySelector('video')";
/** A script that makes `play` fail while the condition is true, until the viewer has clicked. */
const refusePlay = (condition: string) => `
  let hasClicked = false;
  addEventListener('click', () => { hasClicked = true; }, true);
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = async function () {
    if (${condition} && !hasClicked) throw new DOMException('', 'NotAllowedError');
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
const waitForVideo = (page: Page) => until('the video', () => video<number>(page, 'currentTime'));
const waitForHeight = (page: Page, height: number) =>
  until(`${height} lines`, async () => (await video(page, 'videoHeight')) === height);

test('the stage plays no video before the show, and starts it with the show', async () => {
  const page = await fixture.open('lobby', 'desktop', PLAYING);
  await page.getByText('The show has not started yet').waitFor();
  expect(await video<string>(page, 'currentSrc')).toBe('');
  await page.evaluate(
    "viewer.show({ stream: { ...viewer.snapshot.stream, status: 'STREAMING' } })",
  );
  await waitForVideo(page);
}, 20_000);

test('the viewer gets the wall-clock time of the frame on screen', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await waitForVideo(page);
  expect(await page.evaluate<number>('viewer.picture.wallClockMs()')).toBeGreaterThan(1e12);
}, 20_000);

describe('the quality menu', () => {
  test('has both renditions, 180p and 360p, and plays the selected one', async () => {
    const page = await fixture.open('live', 'desktop', PLAYING);
    await waitForVideo(page);
    // All custom elements are defined, those of the menu too.
    await page.getByRole('button', { name: 'quality' }).click();
    expect(await page.evaluate<string[]>(UNKNOWN_ELEMENTS)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('menuitemradio', { name: '180p' }).click();
    await waitForHeight(page, 180);
    await page.getByRole('button', { name: 'quality' }).click();
    await page.getByRole('menuitemradio', { name: '360p', exact: true }).click();
    await waitForHeight(page, 360);
  }, 20_000);

  test('works by keyboard', async () => {
    const page = await fixture.open('live', 'desktop', PLAYING);
    await waitForVideo(page);
    await page.getByRole('button', { name: 'quality' }).focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitemradio', { name: '180p' });
    await item.waitFor();
    await until('the focus in the menu', () =>
      page.evaluate<boolean>("document.activeElement.localName === 'media-rendition-menu'"),
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await waitForHeight(page, 180);
  }, 20_000);
});

describe('a browser that refuses autoplay', () => {
  test('with sound plays muted, until the viewer turns on the sound', async () => {
    const page = await fixture.open('live', 'phone', {
      ...PLAYING,
      script: refusePlay('!this.muted'),
    });
    const button = page.getByRole('button', { name: 'Turn on sound' });
    await button.waitFor();
    expect(await video<boolean>(page, 'muted')).toBe(true);
    await button.tap();
    expect(await video<boolean>(page, 'muted')).toBe(false);
    await button.waitFor({ state: 'detached' });
    // A viewer who mutes the video is not asked again.
    await page.evaluate(`${VIDEO}.muted = true`);
    expect(await button.count()).toBe(0);
  }, 20_000);

  test('with and without sound plays when the viewer presses play', async () => {
    const page = await fixture.open('live', 'phone', { ...PLAYING, script: refusePlay('true') });
    await page.getByText('Press play to watch').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).tap();
    await waitForVideo(page);
    await page.getByText('Press play to watch').waitFor({ state: 'detached' });
  }, 20_000);
});

describe('full screen', () => {
  test('contains the quiz', async () => {
    const page = await fixture.open('quiz-open', 'desktop', PLAYING);
    await waitForVideo(page);
    await page.getByRole('button', { name: 'enter fullscreen mode' }).click();
    await until('full screen', () => page.evaluate("document.fullscreenElement?.id === 'stage'"));
    await page.getByRole('button', { name: /Jupiter/ }).click();
    expect(await page.evaluate<string[]>('[...viewer.calls]')).toEqual(['answer Jupiter']);
  }, 20_000);

  describe('where only a <video> can be in full screen', () => {
    const VIDEO_ONLY = {
      ...PLAYING,
      script:
        "Object.defineProperty(Document.prototype, 'fullscreenEnabled', { get: () => false })",
    };
    const fillsWindow = (page: Page) =>
      page.evaluate<boolean>(`(({ top, left, right, bottom }) =>
        top === 0 && left === 0 && right === innerWidth && bottom === innerHeight
      )(document.querySelector('#stage').getBoundingClientRect())`);

    // A position that no quiz covers.
    const LEFT_EDGE = { x: 5, y: 200 };

    test('fills the window with stage and quiz, until the button is pressed again', async () => {
      const page = await fixture.open('quiz-open', 'landscape', VIDEO_ONLY);
      await waitForVideo(page);
      expect(await page.locator('media-fullscreen-button').count()).toBe(0);
      const button = page.getByRole('button', { name: 'Fill window', exact: true });
      await page.locator('video').tap({ position: LEFT_EDGE });
      await button.tap();
      expect(await fillsWindow(page)).toBe(true);
      expect(await button.getAttribute('aria-pressed')).toBe('true');
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: /Jupiter/ }).tap();
      expect(await page.evaluate<string[]>('[...viewer.calls]')).toEqual(['answer Jupiter']);
      await page.locator('video').tap({ position: LEFT_EDGE });
      await button.tap();
      expect(await fillsWindow(page)).toBe(false);
    }, 20_000);

    test('Escape hides the quiz, then ends the filled window and keeps the focus', async () => {
      const page = await fixture.open('quiz-open', 'desktop', VIDEO_ONLY);
      await waitForVideo(page);
      const button = page.getByRole('button', { name: 'Fill window', exact: true });
      await button.press('Enter');
      expect(await fillsWindow(page)).toBe(true);
      // The covered chat input is inert.
      const takesFocus = () =>
        page.evaluate<boolean>(
          "(box => (box.focus(), box === document.activeElement))(document.querySelector('.field'))",
        );
      expect(await takesFocus()).toBe(false);
      await page.getByRole('button', { name: 'Hide the quiz' }).press('Escape');
      await page.getByRole('button', { name: 'Show the quiz' }).waitFor();
      expect(await fillsWindow(page)).toBe(true);
      await button.focus();
      await page.keyboard.press('Escape');
      expect(await fillsWindow(page)).toBe(false);
      expect(
        await button.evaluate((element) => element === element.ownerDocument.activeElement),
      ).toBe(true);
      expect(await takesFocus()).toBe(true);
    }, 20_000);

    test('is not offered to an embedded page without the audience panel', async () => {
      const page = await fixture.open('live&bare', 'desktop', VIDEO_ONLY);
      await waitForVideo(page);
      expect(await page.locator('media-mute-button').count()).toBe(1);
      expect(await page.locator('.stage-fill').count()).toBe(0);
    }, 20_000);
  });
});

test('controls stay visible while they have keyboard focus, and hide when it leaves', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await waitForVideo(page);
  await page.clock.install();
  const opacity = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('media-control-bar')).opacity");
  // Tab makes the focus visible.
  await page.locator('media-play-button').focus();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.localName')).toBe('media-mute-button');
  await until('the controls', async () => (await opacity()) === '1');
  await page.clock.runFor(10_000);
  // Longer than the start of the hide animation.
  await Bun.sleep(300);
  expect(await opacity()).toBe('1');
  await page.getByRole('textbox').focus();
  await until('no controls', async () => (await opacity()) === '0');
}, 20_000);

test('a show that has ended can be watched again', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await waitForVideo(page);
  await page.evaluate(`${VIDEO}.currentTime = 59`);
  await page.getByText('The show is over').waitFor();
  expect(await page.evaluate<unknown>('viewer.picture')).toBeNull();
  await page.getByRole('button', { name: 'Watch again' }).click();
  await until('the beginning', async () => (await video<number>(page, 'currentTime')) < 30);
  await page.getByText('The show is over').waitFor({ state: 'detached' });
  expect(await page.evaluate<number>('viewer.picture.wallClockMs()')).toBeGreaterThan(1e12);
}, 20_000);

test('when the player did not load, a button reloads the page and the video plays', async () => {
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
  await waitForVideo(page);
}, 20_000);

test('events no longer wait for the video after an interruption of 12 s', async () => {
  const page = await fixture.open('live', 'desktop', PLAYING);
  await waitForVideo(page);
  await page.clock.install();
  await page.evaluate(`${VIDEO}.dispatchEvent(new Event('waiting'))`);
  await page.clock.runFor(2_000);
  await page.getByText('The video is interrupted').waitFor();
  expect(await page.evaluate<unknown>('viewer.picture')).not.toBeNull();
  await page.clock.runFor(10_000);
  expect(await page.evaluate<unknown>('viewer.picture')).toBeNull();
  await page.getByText('The video is interrupted').waitFor();
}, 20_000);
