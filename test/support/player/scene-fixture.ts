import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../media/browser.ts';
import { addAxe } from './axe.ts';
import { type FixtureServer, serveFixture } from './fixture-server.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const LANDSCAPE = { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true };
const DESKTOP = { viewport: { width: 1_440, height: 900 } };

export const SCREENS = { phone: PHONE, landscape: LANDSCAPE, desktop: DESKTOP } as const;

interface SceneOptions extends BrowserContextOptions {
  /** Whether the stream has video; decoding it takes most of the CPU time of a test. */
  readonly isPlaying?: boolean;
  /** Runs before the scripts of the page. */
  readonly script?: string;
}

/** A browser that opens scenes of the watch page. */
export class SceneFixture {
  private constructor(
    private readonly server: FixtureServer,
    private readonly browser: Browser,
  ) {}

  static async start(): Promise<SceneFixture> {
    const [server, browser] = await Promise.all([serveFixture(), launchBrowser()]);
    return new SceneFixture(server, browser);
  }

  /**
   * @param scene of `pages/scenes.ts`
   * @returns its page, with reduced motion unless the options change that
   */
  async open(
    scene: string,
    screen: keyof typeof SCREENS = 'desktop',
    { isPlaying = false, script = '', ...options }: SceneOptions = {},
  ): Promise<Page> {
    const context = await this.browser.newContext({
      ...SCREENS[screen],
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(8_000);
    await context.addInitScript(script);
    await addAxe(context);
    const page = await context.newPage();
    await page.goto(this.server.urlOf(scene, isPlaying));
    await page.getByRole('main').waitFor();
    return page;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.close();
  }
}
