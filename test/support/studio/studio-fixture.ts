import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { FeedEvent } from '../../../protocol/feed.ts';
import { join as joinShow } from '../../../sdk/join.ts';
import type { Viewer } from '../../../sdk/viewer.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../harness/program.ts';
import { launchBrowser } from '../media/browser.ts';
import { addAxe } from '../player/axe.ts';
import { FAST_POLLING } from '../player/show-fixture.ts';

export const PASSWORD = 'correct horse battery';
// What a browser says by itself of an answer that a page expects, or of a line that a test cut.
const EXPECTED = /^Failed to load resource: /;
const NO_VIDEO = ['--rtmp-port', 'off', '--srt-port', 'off'];

/** The studio in a browser of its own. */
export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page got wrong. */
  readonly errors: string[];
}

/** The program as people run it, with browsers for who is at work in the studio. */
export class StudioFixture {
  private readonly viewers: Viewer[] = [];

  private constructor(
    private server: ServerProcess,
    private readonly settings: readonly string[],
    readonly browser: Browser,
    private readonly folder: ReturnType<typeof temporaryFolder>,
  ) {}

  /** A service with the account of Ann, who has no password yet. @param more settings */
  static async start(more: readonly string[] = []): Promise<StudioFixture> {
    const folder = temporaryFolder();
    const settings = ['--data', folder.path('data'), ...NO_VIDEO, ...more];
    const producer = ['--email', 'ann@example.org', '--name', 'Ann'];
    const data = settings.slice(0, 2);
    const [, browser] = await Promise.all([
      fourbeat(['account', 'create', ...producer, ...data]),
      launchBrowser(),
    ]);
    return new StudioFixture(await serveProcess(settings), settings, browser, folder);
  }

  /** A service that was started for the first time. */
  static async startFirst(): Promise<StudioFixture> {
    const folder = temporaryFolder();
    const settings = ['--data', folder.path('data'), ...NO_VIDEO];
    const [server, browser] = await Promise.all([serveProcess(settings), launchBrowser()]);
    return new StudioFixture(server, settings, browser, folder);
  }

  /** The folder with its data. */
  get data(): string {
    return this.folder.path('data');
  }

  get url(): string {
    return this.server.url;
  }

  /** The link that the service printed at its start. */
  get setupLink(): string {
    return /\S+#setup=\S+/.exec(this.server.startupOutput)?.[0] ?? '';
  }

  /** The link with which somebody chooses a password. */
  async linkFor(email: string): Promise<string> {
    const data = this.settings.slice(0, 2);
    const origin = ['--public-url', this.url];
    const { stdout } = await fourbeat(['member', 'link', '--email', email, ...data, ...origin]);
    return JSON.parse(stdout).link;
  }

  /** A call of the studio API by somebody at work, that must do. @returns its JSON */
  async call<T>({ context }: OpenedPage, method: string, path: string, data?: unknown): Promise<T> {
    const studio = `${this.url}/studio/v1`;
    const session = await context.request.get(`${studio}/session`);
    const headers = { 'X-CSRF-Token': (await session.json()).csrf };
    const response = await context.request.fetch(studio + path, { method, headers, data });
    if (!response.ok()) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.status() === 204 ? (null as T) : response.json();
  }

  /** @param script what runs before the page */
  async open(path: string, options: BrowserContextOptions = {}, script = ''): Promise<OpenedPage> {
    const context = await this.browser.newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(15_000);
    await context.addInitScript(script);
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

  /** The studio as Ann has it, who owns the account; her way in is tried elsewhere. */
  async openOwner(): Promise<OpenedPage> {
    const link = await this.linkFor('ann@example.org');
    const owner = await this.open('/studio/');
    const data = { token: new URL(link).hash.split('=')[1], name: 'Ann', password: PASSWORD };
    await owner.context.request.post(`${this.url}/studio/v1/invitations/accept`, { data });
    await owner.page.reload();
    await owner.page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    return owner;
  }

  /** Somebody who watches, in a browser of their own. */
  watchPage(streamId: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    return this.open(`/watch/${streamId}`, options, FAST_POLLING);
  }

  /** Somebody who watches, without a browser. */
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

  /** The events of a show that viewers were sent, by the producer's export. */
  async sentEvents({ page }: OpenedPage, streamId: string): Promise<FeedEvent[]> {
    const path = `/studio/v1/streams/${streamId}/exports/feed`;
    const rows = (await (await page.request.get(this.url + path)).text()).split('\n');
    return rows.filter(Boolean).flatMap((row) => JSON.parse(row).events);
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
