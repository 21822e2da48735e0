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
// Console errors that browsers log for expected responses and interrupted connections.
const EXPECTED = /^Failed to load resource: /;
// A camera and a microphone that pages may use.
const DEVICES = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
const NO_VIDEO = ['--rtmp-port', 'off', '--srt-port', 'off'];

/** A page in its own browser context. */
export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors that the page logged or threw. */
  readonly errors: string[];
}

/** A running service with browsers for hosts and viewers. */
export class StudioFixture {
  private readonly viewers: Viewer[] = [];

  private constructor(
    private server: ServerProcess,
    private readonly settings: readonly string[],
    readonly browser: Browser,
    private readonly folder: ReturnType<typeof temporaryFolder>,
  ) {}

  /** Starts a service with the account of Ann, who has no password yet. @param more settings */
  static async start(more: readonly string[] = []): Promise<StudioFixture> {
    const folder = temporaryFolder();
    const settings = ['--data', folder.path('data'), ...NO_VIDEO, ...more];
    const producer = ['--email', 'ann@example.org', '--name', 'Ann'];
    const data = settings.slice(0, 2);
    const [, browser] = await Promise.all([
      fourbeat(['account', 'create', ...producer, ...data]),
      launchBrowser(DEVICES),
    ]);
    return new StudioFixture(await serveProcess(settings), settings, browser, folder);
  }

  /** Starts a new service without an account. @param more settings */
  static async startFirst(more: readonly string[] = []): Promise<StudioFixture> {
    const folder = temporaryFolder();
    const settings = ['--data', folder.path('data'), ...NO_VIDEO, ...more];
    const [server, browser] = await Promise.all([serveProcess(settings), launchBrowser()]);
    return new StudioFixture(server, settings, browser, folder);
  }

  /** The data folder. */
  get data(): string {
    return this.folder.path('data');
  }

  get url(): string {
    return this.server.url;
  }

  /** The setup link that the service printed. */
  get setupLink(): string {
    return /\S+#setup=\S+/.exec(this.server.startupOutput)?.[0] ?? '';
  }

  /** A link to choose a password. */
  async linkFor(email: string): Promise<string> {
    const data = this.settings.slice(0, 2);
    const origin = ['--public-url', this.url];
    const { stdout } = await fourbeat(['member', 'link', '--email', email, ...data, ...origin]);
    return JSON.parse(stdout).link;
  }

  /**
   * Calls the studio API as a signed-in host.
   * @returns the JSON of the response
   * @throws for an error response
   */
  async call<T>({ context }: OpenedPage, method: string, path: string, data?: unknown): Promise<T> {
    const studio = `${this.url}/studio/v1`;
    const session = await context.request.get(`${studio}/session`);
    const headers = { 'X-CSRF-Token': (await session.json()).csrf };
    const response = await context.request.fetch(studio + path, { method, headers, data });
    if (!response.ok()) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.status() === 204 ? (null as T) : response.json();
  }

  /** Opens a page in a new browser context. @param script runs before the page's scripts */
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

  /** Opens the studio as Ann, the owner. Other tests cover her sign-in. */
  async openOwner(): Promise<OpenedPage> {
    const link = await this.linkFor('ann@example.org');
    const owner = await this.open('/studio/');
    const data = { token: new URL(link).hash.split('=')[1], name: 'Ann', password: PASSWORD };
    await owner.context.request.post(`${this.url}/studio/v1/invitations/accept`, { data });
    await owner.page.reload();
    await owner.page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    return owner;
  }

  /** Opens the viewers' page in a new browser context. */
  openViewerPage(streamId: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    return this.open(`/watch/${streamId}`, options, FAST_POLLING);
  }

  /** Joins the show as a viewer without a browser. */
  joinViewer(streamId: string, viewerId: string): Viewer {
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

  /** The events that viewers received, from the feed export. */
  async sentEvents({ page }: OpenedPage, streamId: string): Promise<FeedEvent[]> {
    const path = `/studio/v1/streams/${streamId}/exports/feed`;
    const rows = (await (await page.request.get(this.url + path)).text()).split('\n');
    return rows.filter(Boolean).flatMap((row) => JSON.parse(row).events);
  }

  /** Kills the service without a shutdown, like a power failure. */
  async kill(): Promise<void> {
    this.server.signal('SIGKILL');
    await this.server.exited;
  }

  /** Restarts the service on the same port. */
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
