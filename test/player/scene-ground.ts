import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../media/browser.ts';
import { addAxe } from './axe.ts';
import { type FixtureServer, serveFixture } from './fixture-server.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const TURNED = { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true };
const DESK = { viewport: { width: 1_440, height: 900 } };

export const SCREENS = { phone: PHONE, turned: TURNED, desk: DESK } as const;

/** A browser that shows scenes of the viewer page. */
export class SceneGround {
  private constructor(
    private readonly server: FixtureServer,
    private readonly browser: Browser,
  ) {}

  static async start(): Promise<SceneGround> {
    const [server, browser] = await Promise.all([serveFixture(), launchBrowser()]);
    return new SceneGround(server, browser);
  }

  /**
   * @param scene of `pages/scenes.ts`
   * @param script what runs before it
   * @returns its page; nothing in it moves but what `more` allows
   */
  async open(
    scene: string,
    screen: keyof typeof SCREENS = 'desk',
    more: BrowserContextOptions = {},
    script = '',
  ): Promise<Page> {
    const context = await this.browser.newContext({
      ...SCREENS[screen],
      reducedMotion: 'reduce',
      ...more,
    });
    context.setDefaultTimeout(8_000);
    await context.addInitScript(script);
    await addAxe(context);
    const page = await context.newPage();
    await page.goto(`${this.server.origin}/?scene=${scene}`);
    await page.getByRole('main').waitFor();
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.close();
  }
}

/** @returns what the page called of its viewer so far, such as `answer Jupiter` */
export function callsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>('[...viewer.calls]');
}
