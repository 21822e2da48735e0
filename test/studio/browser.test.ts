import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Harness, startService } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { newMember, PASSWORD } from '../support/studio/member-browser.ts';

// What a browser itself does with the cookie, and what it lets pages of other origins do.

let service: Harness;
let neighbour: Bun.Server<undefined>;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  service = await startService();
  // Another port of the same host is the same site: cookies do not know of ports.
  neighbour = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } }),
  });
  browser = await launchBrowser();
  context = await browser.newContext();
}, 30_000);
afterAll(async () => {
  await browser.close();
  await neighbour.stop(true);
  await service.close();
});

async function pageAt(url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

test('[U-1] [U-3] [U-7] a page of this service signs in, writes with the token, and never sees the cookie', async () => {
  const { email } = await newMember(service, 'owner');
  const page = await pageAt(`${service.url}/api/v1/time`);
  const statuses = await page.evaluate(
    async ({ email, password }) => {
      const json = { 'Content-Type': 'application/json' };
      const post = (path: string, body: object, headers = {}) =>
        fetch(`/studio/v1${path}`, {
          method: 'POST',
          headers: { ...json, ...headers },
          body: JSON.stringify(body),
        });
      const began = await post('/session', { email, password });
      const { csrf } = (await began.json()) as { csrf: string };
      const written = await post('/streams', { title: 'Mine' }, { 'X-CSRF-Token': csrf });
      const forgotten = await post('/streams', { title: 'Mine' });
      const session = await fetch('/studio/v1/session');
      return [began, written, forgotten, session].map(({ status }) => status);
    },
    { email, password: PASSWORD },
  );
  expect(statuses).toEqual([201, 201, 401, 200]);
  expect(await page.evaluate('document.cookie')).toBe('');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'fourbeat', httpOnly: true, sameSite: 'Strict', path: '/' });
});

test('[U-7] [G-25] a page of another origin in the same browser reads and writes nothing', async () => {
  const page = await pageAt(`http://127.0.0.1:${neighbour.port}/`);
  const results = await page.evaluate(async (url) => {
    const body = JSON.stringify({ title: 'Theirs' });
    const json = { 'Content-Type': 'application/json', 'X-CSRF-Token': 'x' };
    const tries: RequestInit[] = [
      { credentials: 'include' },
      { credentials: 'include', method: 'POST', body },
      { credentials: 'include', method: 'POST', body, mode: 'no-cors' },
      { credentials: 'include', method: 'POST', body, headers: json },
    ];
    return Promise.all(
      tries.map((init) =>
        fetch(`${url}/studio/v1/streams`, init).then(
          ({ type }) => type,
          () => 'blocked',
        ),
      ),
    );
  }, service.url);
  // An opaque answer tells the page nothing.
  expect(results).toEqual(['blocked', 'blocked', 'opaque', 'blocked']);
  await page.setContent(`<form method="post" enctype="text/plain" action="${service.url}/studio/v1/streams">
    <input name='{"title":"Theirs","x":"' value='"}'><button>Win a prize</button></form>`);
  await page.click('button');
  await page.waitForURL(`${service.url}/**`);
  expect(await page.textContent('body')).toContain('401');
  const streams = await (await service.studio('GET', '/streams')).text();
  expect(streams).toContain('Mine');
  expect(streams).not.toContain('Theirs');
});
