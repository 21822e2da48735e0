import { afterAll, beforeAll, expect, test } from 'bun:test';
import { truncateSync, writeFileSync } from 'node:fs';
import type { StudioStream } from '../../protocol/studio.ts';
import { temporaryFolder } from '../support/harness/program.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// Files that a host chooses by mistake.

const folder = temporaryFolder();
let fixture: StudioFixture;
let owner: OpenedPage;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const title = 'Quiz night';
  const { id } = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title });
  await owner.page.goto(`${fixture.url}/studio/streams/${id}/rundown`);
  await button(owner.page, 'Import').click();
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  folder.remove();
});

test('[D-18] the studio does not read a video that a host chooses to import, and says so', async () => {
  const { page, errors } = owner;
  const path = folder.path('video.csv');
  writeFileSync(path, '');
  truncateSync(path, 1_000_000_000);
  await page.locator('input[type=file]').setInputFiles(path);
  await page.getByRole('alert').getByText('The file is larger than 1 MB.').waitFor();
  expect(await page.getByLabel('Or paste the content').inputValue()).toBe('');
  expect(errors).toEqual([]);
}, 60_000);

test('[D-18] the largest file that the service accepts is read', async () => {
  const { page } = owner;
  const text = 'x'.repeat(1_000_000);
  const file = { name: '../<b>.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type=file]').setInputFiles(file);
  const content = page.getByLabel('Or paste the content');
  await until('the text is read', async () => (await content.inputValue()).length === text.length);
  expect(await page.getByRole('alert').count()).toBe(0);
}, 60_000);
