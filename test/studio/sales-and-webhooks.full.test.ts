import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Product } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from '../support/webhooks/webhook-receiver.ts';

// Purchases, discounts, custom events and webhooks from the studio. Each test continues where the
// previous one stopped.

const ALLOW_LOCAL_WEBHOOKS = ['--webhook-allow-http', '--webhook-allow-private', '127.0.0.1/32'];

let fixture: StudioFixture;
let owner: OpenedPage;
let receiver: Receiver;
let streamId: string;
let viewer: Viewer;

beforeAll(async () => {
  receiver = startReceiver();
  fixture = await StudioFixture.start(ALLOW_LOCAL_WEBHOOKS);
  owner = await fixture.openOwner();
  const { page } = owner;
  await button(page, 'New show').first().click();
  await field(page, 'Title').fill('Market night');
  await button(page, 'Create').click();
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

/** Waits until a button is enabled again after its last press (B-7). */
async function untilReady(page: Page, name: string): Promise<void> {
  await button(page, name).and(page.locator(':not([aria-disabled=true]):not(:disabled)')).waitFor();
}

describe('sales and custom events', () => {
  test('[P-24] a purchase reaches viewers once, however often the button is pressed', async () => {
    const { page } = owner;
    const purchases = () => viewer.snapshot.messages.filter(({ kind }) => kind === 'purchase');
    await page.getByRole('link', { name: 'On air' }).click();
    await button(page, 'Start the show').click();
    await button(page, 'Start without video').click();
    viewer = fixture.joinViewer(streamId, 'one');
    await page.getByText('No purchases yet.').waitFor();
    await page.getByRole('tab', { name: 'Purchase' }).click();
    await field(page, 'Buyer').fill('Ada');
    await field(page, 'Purchase text').fill('bought two mugs');
    await untilReady(page, 'Send to viewers');
    await button(page, 'Send to viewers').click({ clickCount: 3 });
    await page.getByRole('list', { name: 'Purchases' }).getByText('bought two mugs').waitFor();
    await until('a purchase is received', () => purchases().length > 0);
    await untilReady(page, 'Send to viewers');
    expect(purchases().map(({ name, text }) => `${name} ${text}`)).toEqual(['Ada bought two mugs']);
    expect(await field(page, 'Purchase text').inputValue()).toBe('');
  }, 60_000);

  test('[P-31] [P-32] a product is added, shown to viewers, and its stock falls with a purchase', async () => {
    const { page } = owner;
    const shown = () => viewer.snapshot.stream?.product ?? product;
    let product: Product | null = null;
    viewer.on('product', (data) => {
      product = data;
    });
    await page.getByText('Add what you sell.').waitFor();
    await button(page, 'Add product').click();
    await field(dialog(page), 'Name').fill('Mug');
    await dialog(page).getByRole('textbox', { name: 'Price' }).fill('12.5');
    await field(dialog(page), 'Link to the shop').fill('https://shop.example.org/mug');
    await dialog(page).getByRole('textbox', { name: 'Pieces in stock' }).fill('3');
    await expectUsable(page, 'product-form');
    await button(dialog(page), 'Add product').click();
    const row = page.getByRole('list', { name: 'Products' }).getByRole('listitem');
    await row.getByText('€12.50 · 3 left').waitFor();
    await button(page, 'Show Mug to viewers').click();
    await row.getByText('On screen').waitFor();
    await page.getByRole('list', { name: 'Sent events' }).getByText('Product: Mug').waitFor();
    await until('viewers see the product', () => shown()?.stock === 3);
    await field(page, 'Purchase text').fill('bought two of them');
    await page.getByRole('button', { name: /Product, whose stock falls/ }).click();
    await page.getByRole('option', { name: 'Mug' }).click();
    await page.getByRole('textbox', { name: 'Pieces' }).fill('2');
    await untilReady(page, 'Send to viewers');
    await button(page, 'Send to viewers').click();
    await row.getByText('€12.50 · 1 left').waitFor();
    await until('viewers see the stock', () => shown()?.stock === 1);
    await expectUsable(page, 'products');
    await button(page, 'Actions for Mug').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog(page).getByRole('textbox', { name: 'Pieces in stock' }).fill('0');
    await button(dialog(page), 'Save').click();
    await row.getByText('Sold out').waitFor();
    await button(page, 'Hide Mug from viewers').click();
    await row.getByText('On screen').waitFor({ state: 'detached' });
    await until('viewers see no product', () => shown() === null);
    await button(page, 'Actions for Mug').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page.getByRole('alertdialog'), 'Delete').click();
    await page.getByText('Add what you sell.').waitFor();
  }, 60_000);

  test('[P-25] a custom event is validated before it is sent, and sent again with one press', async () => {
    const { page } = owner;
    const received: unknown[] = [];
    viewer.on('lights', (data) => received.push(data));
    await page.getByRole('tab', { name: 'Custom event' }).click();
    await field(page, 'Type').fill('Lights');
    await field(page, 'Data (JSON)').fill('{color: red}');
    await untilReady(page, 'Send to viewers');
    await button(page, 'Send to viewers').click();
    await page.getByText('This is not valid JSON.').waitFor();
    await page.getByText(/The type must be a-z/).waitFor();
    await expectUsable(page, 'offers-errors');
    await field(page, 'Type').fill('lights');
    await field(page, 'Data (JSON)').fill('{"color": "red"}');
    await button(page, 'Send to viewers').click();
    const sendAgain = 'Send again: lights {"color":"red"}';
    await untilReady(page, sendAgain);
    await button(page, sendAgain).dblclick();
    await until('both events are received', () => received.length > 1);
    await untilReady(page, sendAgain);
    expect(await sentOf('lights')).toHaveLength(2);
    expect(received).toEqual([{ color: 'red' }, { color: 'red' }]);
  }, 60_000);

  test('[C-9] discounts are summed, hearts are counted per minute, and history survives a reload', async () => {
    const { page } = owner;
    await page.getByRole('tab', { name: 'Discounts' }).click();
    await page.getByRole('textbox', { name: 'Redeemed discounts' }).fill('5');
    await untilReady(page, 'Send to viewers');
    await button(page, 'Send to viewers').click();
    await page.getByText('5 discounts since this page was opened').waitFor();
    viewer.sendHeart();
    await page.getByText(/^[1-9]\d* hearts? per minute$/).waitFor();
    await expectUsable(page, 'offers');
    await page.reload();
    await page.getByRole('list', { name: 'Purchases' }).getByText('bought two mugs').waitFor();
    await button(page, 'Send again: lights {"color":"red"}').waitFor();
  }, 60_000);
});

describe('a webhook', () => {
  let secret: string;

  test('[H-1] [H-3] is created, and its secret is shown once', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await expectUsable(page, 'webhooks-empty');
    await button(page, 'New webhook').click();
    await field(page, 'URL').fill('http://10.1.2.3/');
    await button(page, 'Create').click();
    await page.getByText('Winners counted').click();
    await page.getByText('Show ended').click();
    await button(page, 'Create').click();
    await page.getByText('The URL must lead to a public address.').waitFor();
    await expectUsable(page, 'webhook-refused');
    await field(page, 'URL').fill(receiver.url);
    await button(page, 'Create').click();
    secret = (await dialog(page).locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await expectUsable(page, 'webhook-secret');
    await button(page, 'Done').click();
    await page.getByRole('link', { name: receiver.url }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await expectUsable(page, 'webhooks');
  }, 90_000);

  test('[H-9] [H-11] delivers a signed test, which the log lists', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByText('No deliveries yet.').waitFor();
    await button(page, 'Send a test').click();
    await receiver.until(1);
    for (const { id, body, headers } of receiver.received) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
      expect(headers['webhook-signature']).toBe(new StandardWebhook(secret).sign(id, at, body));
    }
    await page.getByText('Delivered').waitFor();
    await page.getByRole('button', { name: /^Test/ }).click();
    await page.getByText('status 204').waitFor();
  }, 60_000);

  test('[H-14] [H-19] sends a failed delivery again on request', async () => {
    const { page } = owner;
    receiver.answer = () => new Response(null, { status: 500 });
    await button(page, 'Send again').click();
    await page.getByText('status 500').waitFor();
    await page.getByText(/^Next attempt at /).waitFor();
    await page.getByText('Failing', { exact: true }).waitFor();
    await expectUsable(page, 'webhook-failing');
    receiver.answer = () => new Response(null, { status: 204 });
    await button(page, 'Send now').click();
    await page.getByText('Delivered').waitFor();
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  }, 60_000);

  test('[H-4] [H-10] can be edited, given a new secret, paused and deleted', async () => {
    const { page } = owner;
    const more = button(page, 'More actions');
    await more.click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await dialog(page).getByText('Show started').click();
    await button(page, 'Save').click();
    await page.getByText('Show started · Show ended · Winners counted').waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Replace secret' }).click();
    await button(page, 'Replace').click();
    await page.getByText(/also signed with the old secret/).waitFor();
    expect(await dialog(page).locator('code').textContent()).not.toBe(secret);
    await button(page, 'Done').click();
    await button(page, 'Pause').click();
    await page
      .getByRole('alertdialog', { name: 'Pause the webhook?' })
      .getByRole('button', { name: 'Pause', exact: true })
      .click();
    await page.getByText(/^Nothing is sent\./).waitFor();
    expect(await button(page, 'Send a test').isDisabled()).toBe(true);
    await button(page, 'Resume').click();
    await button(page, 'Pause').waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog', { name: 'Delete the webhook?' }).waitFor();
    await button(page, 'Delete').click();
    await page.getByText('No webhooks yet').waitFor();
  }, 90_000);
});

test('the page logged no errors', () => {
  expect(owner.errors).toEqual([]);
});
