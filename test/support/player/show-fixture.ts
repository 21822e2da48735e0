import type { Subprocess } from 'bun';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type Account, expectJson, type PublishedQuiz, QUIZ } from '../harness/harness.ts';
import { fourbeat, killServers, serveProcess, temporaryFolder } from '../harness/program.ts';
import { launchBrowser } from '../media/browser.ts';
import { quit } from '../media/live-fixture.ts';
import { playTestPicture } from '../media/test-source.ts';

// Encodes with little CPU time and low latency.
const MEDIA = ['--rtmp-port', 'off', '--srt-port', 'off', '--media-preset', 'ultrafast'];
const LOW_LATENCY = ['--media-latency', 'low', '--media-segment', '500'];
// The browser logs this for each error status, also for one that the page expects.
const EXPECTED = /^Failed to load resource: /;

/** Pages poll about every 15 s whether their show has ended. This script makes it 1.5 s. */
export const FAST_POLLING = `
  const setTimer = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms) => setTimer(run, ms > 11_000 ? ms / 10 : ms);`;

/** An open watch page. */
export interface WatchSession {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Exceptions and console errors of the page. */
  readonly errors: readonly string[];
}

/** An event of the feed, as in the producer's export. */
export interface FeedEvent {
  readonly interval: number;
  readonly type: string;
  readonly data: unknown;
}

/** A server process with a producer's account, and a browser for its viewers. */
export class ShowFixture {
  private source: Subprocess | null = null;

  private constructor(
    readonly url: string,
    readonly account: Account,
    private readonly browser: Browser,
    private readonly folder: ReturnType<typeof temporaryFolder>,
  ) {}

  static async start(): Promise<ShowFixture> {
    const folder = temporaryFolder();
    const data = ['--data', folder.path('data')];
    const producer = ['--email', 'ann@example.org', '--name', 'Ann'];
    const [created, browser] = await Promise.all([
      fourbeat(['account', 'create', ...producer, ...data]),
      launchBrowser(),
    ]);
    const { url } = await serveProcess([...data, ...MEDIA, ...LOW_LATENCY]);
    return new ShowFixture(url, JSON.parse(created.stdout), browser, folder);
  }

  /** Calls the studio API and expects a success. @returns the JSON */
  async studio<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.call(method, path, body);
    return expectJson<T>(response, response.ok ? response.status : 200);
  }

  /** The rows of an export. */
  async exported<T>(streamId: string, what: string): Promise<T[]> {
    const response = await this.call('GET', `/streams/${streamId}/exports/${what}`);
    const rows = (await response.text()).split('\n').filter(Boolean);
    return rows.map((row) => JSON.parse(row));
  }

  /** The events of the feed, from the producer's export. */
  async feedEvents(streamId: string): Promise<FeedEvent[]> {
    type Row = { readonly interval: number; readonly events: Omit<FeedEvent, 'interval'>[] };
    const rows = await this.exported<Row>(streamId, 'feed');
    return rows.flatMap(({ interval, events }) => events.map((event) => ({ interval, ...event })));
  }

  async createStream(fields: Record<string, unknown> = {}): Promise<string> {
    const body = { title: 'A show', autoStart: true, ...fields };
    return (await this.studio<{ id: string }>('POST', '/streams', body)).id;
  }

  async publishQuiz(streamId: string, quiz: Record<string, unknown> = {}): Promise<PublishedQuiz> {
    const draft = { ...QUIZ, ...quiz };
    const { id } = await this.studio<{ id: string }>('POST', `/streams/${streamId}/quizzes`, draft);
    return this.studio('POST', `/quizzes/${id}/publish`);
  }

  /** Streams the test video, and waits for its first segment. */
  async play(streamId: string, size?: string): Promise<void> {
    this.source = await playTestPicture(this, streamId, size);
  }

  /** Stops the encoder cleanly. */
  async stopVideo(): Promise<void> {
    if (this.source) await quit(this.source);
    this.source = null;
  }

  /** @param prepare runs before the page is opened */
  async watch(
    streamId: string,
    options: BrowserContextOptions = {},
    prepare: (context: BrowserContext) => Promise<void> = async () => {},
  ): Promise<WatchSession> {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(15_000);
    await prepare(context);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
    });
    await page.goto(`${this.url}/watch/${streamId}`);
    return { page, context, errors };
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.stopVideo();
    await killServers();
    this.folder.remove();
  }

  /** Calls the studio API. */
  call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}/studio/v1${path}`, {
      method,
      headers: { Authorization: `Token ${this.account.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
