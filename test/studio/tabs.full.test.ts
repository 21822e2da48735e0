import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { StudioStream } from '../../protocol/studio.ts';
import { fourbeat } from '../support/harness/program.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// The tabs of a browser share the cookie of the session.

let fixture: StudioFixture;
let owner: OpenedPage;
let stream: StudioStream;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  stream = await fixture.call(owner, 'POST', '/streams', { title: 'Quiz night' });
}, 60_000);
afterAll(() => fixture?.close());

const streamNow = () => fixture.call<StudioStream>(owner, 'GET', `/streams/${stream.id}`);

async function signIn(page: Page, email: string): Promise<void> {
  await field(page, 'Email').fill(email);
  await field(page, 'Password').fill(PASSWORD);
  await button(page, 'Sign in').click();
}

test('[U-3] an on air page works after its member signed in again in another tab', async () => {
  const { page, context } = owner;
  await page.goto(`${fixture.url}/studio/streams/${stream.id}/on-air`);
  await button(page, 'Start the show').waitFor();
  // The second tab still offers to sign in, as after the end of a session.
  await context.clearCookies();
  const second = await context.newPage();
  await second.goto(`${fixture.url}/studio/`);
  await signIn(second, 'ann@example.org');
  await second.getByRole('link', { name: /Quiz night/ }).waitFor();
  await button(page, 'Start the show').click();
  await button(page, 'Start without video').click();
  await until('the show runs', async () => (await streamNow()).status === 'STREAMING');
  await second.close();
}, 60_000);

test('[U-3] a write says that another program of the browser signed in, and then works', async () => {
  const { page, context } = owner;
  const data = { email: 'ann@example.org', password: PASSWORD };
  await context.request.post(`${fixture.url}/studio/v1/session`, { data });
  await page.goto(`${fixture.url}/studio/`);
  await button(page, 'New show').waitFor();
  await context.request.post(`${fixture.url}/studio/v1/session`, { data });
  await button(page, 'New show').click();
  await field(page, 'Title').fill('Second night');
  await button(page, 'Create').click();
  await page.getByText('You signed in again in another tab. Try again.').first().waitFor();
  await button(page, 'Create').click();
  await page.getByText('Second night').first().waitFor();
}, 60_000);

test('[U-3] a tab shows another member as soon as they sign in in this browser', async () => {
  const { page, context } = owner;
  const account = ['--email', 'bob@example.org', '--name', 'Bob'];
  await fourbeat(['account', 'create', ...account, '--data', fixture.data]);
  await page.goto(`${fixture.url}/studio/`);
  await page.getByRole('link', { name: /Quiz night/ }).waitFor();
  const second = await context.newPage();
  await second.goto(await fixture.linkFor('bob@example.org'));
  await field(second, 'Your name').fill('Bob Lee');
  await field(second, 'New password').fill(PASSWORD);
  await second.getByRole('button', { name: /^(?:Join|Save password)$/ }).click();
  await page.getByText('No shows yet').waitFor();
  await page.getByText('Bob Lee').first().waitFor();
  expect(await page.getByText('Quiz night').count()).toBe(0);
  expect(owner.errors).toEqual([]);
}, 60_000);
