import type { Subprocess } from 'bun';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type Account, expectJson, type PublishedQuiz, QUIZ } from '../harness/harness.ts';
import { fourbeat, killServers, serveProcess, temporaryFolder } from '../harness/program.ts';
import { launchBrowser } from '../media/browser.ts';
import { quit } from '../media/live-fixture.ts';
import { playTestPicture } from '../media/test-source.ts';

// As little to encode as there can be, and soon on screen.
const MEDIA = ['--rtmp-port', 'off', '--srt-port', 'off', '--media-preset', 'ultrafast'];
const SOON = ['--media-latency', 'low', '--media-segment', '500'];
// What a browser says by itself of an answer that a page expects.
const EXPECTED = /^Failed to load resource: /;

/**
 * Pages look each 15 s whether their show has begun or is over. With this they look ten times as often,
 * or most of the time of a test would be waiting.
 */
export const HASTEN = `
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, ms) => later(run, ms > 11_000 ? ms / 10 : ms);`;

/** A page of somebody who watches. */
export interface Watching {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page got wrong. */
  readonly errors: readonly string[];
}

/** An event of the feed, as the producer exports it. */
export interface ToldEvent {
  readonly interval: number;
  readonly type: string;
  readonly data: unknown;
}

/** The program as people run it, with a producer, and a browser with viewers. */
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
    const [made, browser] = await Promise.all([
      fourbeat(['account', 'create', ...producer, ...data]),
      launchBrowser(),
    ]);
    const { url } = await serveProcess([...data, ...MEDIA, ...SOON]);
    return new ShowFixture(url, JSON.parse(made.stdout), browser, folder);
  }

  /** A call of the studio API that must work. @returns its JSON */
  async studio<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.call(method, path, body);
    return expectJson<T>(response, response.ok ? response.status : 200);
  }

  /** Rows of an export. */
  async exported<T>(streamId: string, what: string): Promise<T[]> {
    const response = await this.call('GET', `/streams/${streamId}/exports/${what}`);
    const rows = (await response.text()).split('\n').filter(Boolean);
    return rows.map((row) => JSON.parse(row));
  }

  /** What the feed told, by the producer's export. */
  async toldEvents(streamId: string): Promise<ToldEvent[]> {
    type Row = { readonly interval: number; readonly events: Omit<ToldEvent, 'interval'>[] };
    const rows = await this.exported<Row>(streamId, 'feed');
    return rows.flatMap(({ interval, events }) => events.map((one) => ({ interval, ...one })));
  }

  async createStream(fields: Record<string, unknown> = {}): Promise<string> {
    const body = { title: 'A show', ...fields };
    return (await this.studio<{ id: string }>('POST', '/streams', body)).id;
  }

  async publishQuiz(streamId: string, quiz: Record<string, unknown> = {}): Promise<PublishedQuiz> {
    const draft = { ...QUIZ, ...quiz };
    const { id } = await this.studio<{ id: string }>('POST', `/streams/${streamId}/quizzes`, draft);
    return this.studio('POST', `/quizzes/${id}/publish`);
  }

  /** The test picture, until its first segment is there. */
  async play(streamId: string, size?: string): Promise<void> {
    this.source = await playTestPicture(this, streamId, size);
  }

  /** The source stops, as a person stops it. */
  async stopPicture(): Promise<void> {
    if (this.source) await quit(this.source);
    this.source = null;
  }

  /** @param prepare what is done before the page is opened */
  async watch(
    streamId: string,
    options: BrowserContextOptions = {},
    prepare: (context: BrowserContext) => Promise<void> = async () => {},
  ): Promise<Watching> {
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
    await this.stopPicture();
    await killServers();
    this.folder.remove();
  }

  private call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}/studio/v1${path}`, {
      method,
      headers: { Authorization: `Token ${this.account.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
