import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Viewer } from '../../sdk/viewer.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from '../support/webhooks/webhook-receiver.ts';

// What viewers and other programs are told by who runs a show. Each test goes on where the one before
// stopped.

const LOCAL = ['--webhook-allow-http', '--webhook-allow-private', '127.0.0.1/32'];

let fixture: StudioFixture;
let owner: OpenedPage;
let receiver: Receiver;
let streamId: string;
let viewer: Viewer;

beforeAll(async () => {
  receiver = startReceiver();
  fixture = await StudioFixture.start(LOCAL);
  owner = await fixture.openOwner();
  const { page } = owner;
  await button(page, 'New show').first().click();
  await field(page, 'Title').fill('Market night');
  await button(page, 'Make it').click();
  await page.getByRole('heading', { name: 'Market night', level: 1 }).waitFor();
  streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await receiver?.stop();
});

const dialog = (page: Page) => page.getByRole('dialog');
const sentOf = async (type: string) =>
  (await fixture.sentEvents(owner, streamId)).filter((event) => event.type === type);

/** What was pressed cannot be pressed again in the next moment (B-7). */
async function untilReady(page: Page, name: string): Promise<void> {
  await button(page, name).and(page.locator(':not([aria-disabled=true]):not(:disabled)')).waitFor();
}

describe('what is sold and sent in a show', () => {
  test('[P-24] a purchase is told to viewers once, however often its button is pressed', async () => {
    const { page } = owner;
    const purchases = () => viewer.snapshot.messages.filter(({ kind }) => kind === 'purchase');
    await page.getByRole('link', { name: 'On air' }).click();
    await button(page, 'Start the show').click();
    viewer = fixture.watch(streamId, 'one');
    await page.getByText('Nobody has bought anything yet.').waitFor();
    await page.getByRole('tab', { name: 'Purchase' }).click();
    await field(page, 'Who').fill('Ada');
    await field(page, 'What they did').fill('bought two mugs');
    await untilReady(page, 'Tell the viewers');
    await button(page, 'Tell the viewers').click({ clickCount: 3 });
    await page.getByRole('list', { name: 'Purchases' }).getByText('bought two mugs').waitFor();
    await until('a purchase is told', () => purchases().length > 0);
    await untilReady(page, 'Tell the viewers');
    expect(purchases().map(({ name, text }) => `${name} ${text}`)).toEqual(['Ada bought two mugs']);
    expect(await field(page, 'What they did').inputValue()).toBe('');
  }, 60_000);

  test('[P-25] an own event is checked before it is sent, and sent again with one press', async () => {
    const { page } = owner;
    const told: unknown[] = [];
    viewer.on('lights', (data) => told.push(data));
    await page.getByRole('tab', { name: 'Own event' }).click();
    await field(page, 'Type').fill('Lights');
    await field(page, 'Data, as JSON').fill('{color: red}');
    await untilReady(page, 'Tell the viewers');
    await button(page, 'Tell the viewers').click();
    await page.getByText('This is no JSON.').waitFor();
    await page.getByText(/The type must be a-z/).waitFor();
    await expectUsable(page, 'offers-errors');
    await field(page, 'Type').fill('lights');
    await field(page, 'Data, as JSON').fill('{"color": "red"}');
    await button(page, 'Tell the viewers').click();
    const again = 'Send again: lights {"color":"red"}';
    await untilReady(page, again);
    await button(page, again).dblclick();
    await until('both events are told', () => told.length > 1);
    await untilReady(page, again);
    expect(await sentOf('lights')).toHaveLength(2);
    expect(told).toEqual([{ color: 'red' }, { color: 'red' }]);
  }, 60_000);

  test('[C-9] discounts are summed, hearts are told by the minute, and all is there after a reload', async () => {
    const { page } = owner;
    await page.getByRole('tab', { name: 'Discounts' }).click();
    await page.getByRole('textbox', { name: 'Discounts that were taken' }).fill('5');
    await untilReady(page, 'Tell the viewers');
    await button(page, 'Tell the viewers').click();
    await page.getByText('5 discounts since this page was opened').waitFor();
    viewer.sendHeart();
    await page.getByText(/^[1-9]\d* hearts? a minute$/).waitFor();
    await expectUsable(page, 'offers');
    await page.reload();
    await page.getByRole('list', { name: 'Purchases' }).getByText('bought two mugs').waitFor();
    await button(page, 'Send again: lights {"color":"red"}').waitFor();
  }, 60_000);
});

describe('webhooks from the studio', () => {
  let secret: string;

  test('[H-1] [H-3] one is made, and its secret is shown this once', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await expectUsable(page, 'webhooks-empty');
    await button(page, 'New webhook').click();
    await field(page, 'Address').fill('http://10.1.2.3/');
    await button(page, 'Make it').click();
    await page.getByText('Winners are counted').click();
    await page.getByText('A show ends').click();
    await button(page, 'Make it').click();
    await page.getByText('The address must lead to a public address.').waitFor();
    await expectUsable(page, 'webhook-refused');
    await field(page, 'Address').fill(receiver.url);
    await button(page, 'Make it').click();
    secret = (await dialog(page).locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await expectUsable(page, 'webhook-secret');
    await button(page, 'Done').click();
    await page.getByRole('link', { name: receiver.url }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await expectUsable(page, 'webhooks');
  }, 90_000);

  test('[H-9] [H-11] a test arrives, signed, and the log has it', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('Nothing was sent yet.').waitFor();
    await button(page, 'Send a test').click();
    await receiver.until(1);
    for (const { id, body, headers } of receiver.received) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
      expect(headers['webhook-signature']).toBe(new StandardWebhook(secret).sign(id, at, body));
    }
    await page.getByText('Arrived').waitFor();
    await page.getByRole('button', { name: /^Test/ }).click();
    await page.getByText('answered 204').waitFor();
  }, 60_000);

  test('[H-14] [H-19] what failed is sent again by hand', async () => {
    const { page } = owner;
    receiver.answer = () => new Response(null, { status: 500 });
    await button(page, 'Send it again').click();
    await page.getByText('answered 500').waitFor();
    await page.getByText(/^Tried next at /).waitFor();
    await page.getByText('Failing', { exact: true }).waitFor();
    await expectUsable(page, 'webhook-failing');
    receiver.answer = () => new Response(null, { status: 204 });
    await button(page, 'Send it now').click();
    await page.getByText('Arrived').waitFor();
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  }, 60_000);

  test('[H-4] [H-10] is changed, given a new secret, paused and deleted', async () => {
    const { page } = owner;
    const more = button(page, 'What else to do with the webhook');
    await more.click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    await dialog(page).getByText('A show begins').click();
    await button(page, 'Keep').click();
    await page.getByText('A show begins · A show ends · Winners are counted').waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'New secret' }).click();
    await button(page, 'Make a new one').click();
    await page.getByText(/signed with the old one as well/).waitFor();
    expect(await dialog(page).locator('code').textContent()).not.toBe(secret);
    await button(page, 'Done').click();
    await button(page, 'Pause').click();
    await button(page, 'Pause it').click();
    await page.getByText(/^Nothing is sent there/).waitFor();
    expect(await button(page, 'Send a test').isDisabled()).toBe(true);
    await button(page, 'Go on').click();
    await button(page, 'Pause').waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog', { name: 'Delete the webhook?' }).waitFor();
    await button(page, 'Delete').click();
    await page.getByText('No webhooks yet').waitFor();
  }, 90_000);
});

test('made no errors on the way', () => {
  expect(owner.errors).toEqual([]);
});
