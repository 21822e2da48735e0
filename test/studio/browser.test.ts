import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Harness, startService } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { newMember, PASSWORD } from '../support/studio/user-agent.ts';

// How a browser handles the session cookie, and what it allows pages of other origins.

let service: Harness;
let otherOrigin: Bun.Server<undefined>;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  service = await startService();
  // Another port of the same host is the same site: cookies ignore ports.
  otherOrigin = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } }),
  });
  browser = await launchBrowser();
  context = await browser.newContext();
}, 30_000);
afterAll(async () => {
  await browser.close();
  await otherOrigin.stop(true);
  await service.close();
});

async function pageAt(url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

test('[U-1] [U-3] [U-7] a page of this service signs in and writes with the CSRF token, but cannot read the cookie', async () => {
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
      const signedIn = await post('/session', { email, password });
      const { csrf } = (await signedIn.json()) as { csrf: string };
      const written = await post('/streams', { title: 'Mine' }, { 'X-CSRF-Token': csrf });
      const withoutToken = await post('/streams', { title: 'Mine' });
      const session = await fetch('/studio/v1/session');
      return [signedIn, written, withoutToken, session].map(({ status }) => status);
    },
    { email, password: PASSWORD },
  );
  expect(statuses).toEqual([201, 201, 401, 200]);
  expect(await page.evaluate('document.cookie')).toBe('');
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: 'fourbeat', httpOnly: true, sameSite: 'Strict', path: '/' });
});

test('[B-6] a page of another origin cannot frame what the session of the browser reads', async () => {
  const page = await pageAt(`http://127.0.0.1:${otherOrigin.port}/`);
  for (const path of ['/session', '/account', '/streams?page=x']) {
    await page.setContent(`<iframe src="${service.url}/studio/v1${path}"></iframe>`);
    const [, frame] = page.frames();
    await frame?.waitForLoadState();
    expect([path, frame?.url()]).toEqual([path, 'chrome-error://chromewebdata/']);
  }
});

test('[U-7] [G-25] a page of another origin in the same browser can neither read nor write', async () => {
  const page = await pageAt(`http://127.0.0.1:${otherOrigin.port}/`);
  const results = await page.evaluate(async (url) => {
    const body = JSON.stringify({ title: 'Theirs' });
    const json = { 'Content-Type': 'application/json', 'X-CSRF-Token': 'x' };
    const requests: RequestInit[] = [
      { credentials: 'include' },
      { credentials: 'include', method: 'POST', body },
      { credentials: 'include', method: 'POST', body, mode: 'no-cors' },
      { credentials: 'include', method: 'POST', body, headers: json },
    ];
    return Promise.all(
      requests.map((init) =>
        fetch(`${url}/studio/v1/streams`, init).then(
          ({ type }) => type,
          () => 'blocked',
        ),
      ),
    );
  }, service.url);
  // An opaque response has no readable content.
  expect(results).toEqual(['blocked', 'blocked', 'opaque', 'blocked']);
  await page.setContent(`<form method="post" enctype="text/plain" action="${service.url}/studio/v1/streams">
    <input name='{"title":"Theirs","x":"' value='"}'><button>Win a prize</button></form>`);
  await page.click('button');
  await page.waitForURL(`${service.url}/**`);
  expect(await page.textContent('body')).toContain('401');
  const streams = await (await service.studio('GET', '/streams')).text();
  expect(streams).toContain('Mine'); // from the test above
  expect(streams).not.toContain('Theirs');
});
