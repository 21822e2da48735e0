import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Member } from '../../protocol/members.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// What pages offer to each role, at every size, and the validation of forms.

let fixture: StudioFixture;
let owner: OpenedPage;
let moderator: OpenedPage;

beforeAll(async () => {
  fixture = await StudioFixture.start(['--rtmp-port', '0', '--srt-port', '0']);
  owner = await fixture.openOwner();
}, 30_000);
afterAll(() => fixture?.close());

test('a form shows its invalid fields, and only a button closes the dialog with the created link', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'Team' }).click();
  await button(page, 'Invite member').click();
  const dialog = page.getByRole('dialog');
  const email = field(page, 'Email');
  const validationText = async () => {
    const ids = (await email.getAttribute('aria-describedby'))?.split(' ') ?? [];
    const texts = ids.map((id) => page.locator(`[id="${id}"]`).textContent());
    return (await Promise.all(texts)).join(' ');
  };
  await page.getByRole('button', { name: /^Host/ }).click();
  await page.getByRole('option', { name: 'Moderator' }).click();
  await button(page, 'Create link').click();
  await until('the empty field is described', async () => /fill/i.test(await validationText()));
  await email.fill('nobody');
  await button(page, 'Create link').click();
  await dialog.getByText('@').waitFor();
  expect(await validationText()).toContain('@');
  // Before the field loses focus, since the button must not move under a press.
  await email.fill('mo@example.org');
  await dialog.getByText('@').waitFor({ state: 'hidden' });
  await button(page, 'Create link').click();
  const link = (await dialog.locator('code').textContent()) ?? '';
  // The link is not shown again, so the dialog stays open.
  await page.keyboard.press('Escape');
  await page.mouse.click(2, 2);
  expect(await dialog.locator('code').textContent()).toBe(link);
  await button(page, 'Done').click();
  await dialog.waitFor({ state: 'detached' });
  moderator = await fixture.open(link, { viewport: { width: 390, height: 844 } });
}, 60_000);

test('[U-9] pages offer moderators nothing that only owners and hosts may do', async () => {
  const title = 'Quiz night';
  const stream = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title });
  const { page } = moderator;
  await field(page, 'Your name').fill('Mo');
  await field(page, 'New password').fill(PASSWORD);
  await button(page, 'Join').click();
  await page.getByRole('link', { name: /Quiz night/ }).waitFor();
  expect(await button(page, 'New show').count()).toBe(0);
  for (const section of ['team', 'tokens', 'webhooks']) {
    await page.goto(`${fixture.url}/studio/${section}`);
    await page.getByText('this needs the role owner').waitFor();
    expect(await page.getByRole('button', { name: /^(New|Invite)/ }).count()).toBe(0);
  }
  const setUp = `${fixture.url}/studio/streams/${stream.id}`;
  await owner.page.goto(setUp);
  await button(owner.page, 'Copy the stream key').waitFor();
  await expectUsable(owner.page, 'set-up-addresses');
  await page.goto(setUp);
  await page.getByRole('heading', { name: 'About the show' }).waitFor();
  for (const name of ['Start the show', 'Edit', 'Replace stream key', 'Try again']) {
    expect(await button(page, name).count()).toBe(0);
  }
  await expectUsable(page, 'set-up-moderator');
  expect(moderator.errors).toEqual([]);
}, 60_000);

test('[B-5] On air shows the next step to a moderator who becomes a host, without a reload', async () => {
  const { page } = moderator;
  const { id } = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
    title: 'Promotion',
  });
  await page.goto(`${fixture.url}/studio/streams/${id}/on-air`);
  await page.getByText('Start the show').waitFor();
  expect(await button(page, 'Start the show').count()).toBe(0);
  await page.evaluate('window.isSamePage = true');
  const { results } = await fixture.call<{ results: Member[] }>(owner, 'GET', '/members');
  const uuid = results.find(({ name }) => name === 'Mo')?.uuid;
  await fixture.call(owner, 'PATCH', `/members/${uuid}`, { role: 'host' });
  await button(page, 'Start the show').waitFor({ timeout: 8_000 });
  expect(await page.evaluate<boolean>('window.isSamePage')).toBe(true);
  expect(moderator.errors).toEqual([]);
}, 30_000);
