import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { join as joinShow } from '../../sdk/join.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { launchBrowser } from '../media/browser.ts';
import { addAxe } from '../player/axe.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../program.ts';

export const PASSWORD = 'correct horse battery';
// What a browser says by itself of an answer that a page expects, or of a line that a test cut.
const EXPECTED = /^Failed to load resource: /;
const NO_VIDEO = ['--rtmp-port', 'off', '--srt-port', 'off'];

/** The studio in a browser of its own. */
export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page got wrong. */
  readonly errors: string[];
}

/** The program as people run it, with browsers for who is at work in the studio. */
export class StudioGround {
  private readonly viewers: Viewer[] = [];

  private constructor(
    private server: ServerProcess,
    private readonly settings: readonly string[],
    readonly browser: Browser,
    private readonly folder: ReturnType<typeof temporaryFolder>,
  ) {}

  static async start(): Promise<StudioGround> {
    const folder = temporaryFolder();
    const settings = ['--data', folder.path('data'), ...NO_VIDEO];
    const producer = ['--email', 'ann@example.org', '--name', 'Ann'];
    const data = settings.slice(0, 2);
    const [, browser] = await Promise.all([
      fourbeat(['account', 'create', ...producer, ...data]),
      launchBrowser(),
    ]);
    return new StudioGround(await serveProcess(settings), settings, browser, folder);
  }

  get url(): string {
    return this.server.url;
  }

  /** The link with which somebody chooses a password. */
  async linkFor(email: string): Promise<string> {
    const data = this.settings.slice(0, 2);
    const origin = ['--public-url', this.url];
    const { stdout } = await fourbeat(['member', 'link', '--email', email, ...data, ...origin]);
    return JSON.parse(stdout).link;
  }

  async open(path: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await this.browser.newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(15_000);
    await addAxe(context);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
    });
    await page.goto(new URL(path, this.url).href);
    return { page, context, errors };
  }

  /** Somebody who watches. */
  watch(streamId: string, viewerId: string): Viewer {
    const viewer = joinShow({
      baseUrl: this.url,
      streamId,
      viewerId,
      name: viewerId,
      storage: null,
    });
    this.viewers.push(viewer);
    return viewer;
  }

  /** As a power failure: nothing is said before. */
  async kill(): Promise<void> {
    this.server.signal('SIGKILL');
    await this.server.exited;
  }

  /** The same service on the same port. */
  async restart(): Promise<void> {
    const port = new URL(this.url).port;
    this.server = await serveProcess([...this.settings, '--port', port]);
  }

  async close(): Promise<void> {
    for (const viewer of this.viewers) viewer.leave();
    await this.browser.close();
    await killServers();
    this.folder.remove();
  }
}
