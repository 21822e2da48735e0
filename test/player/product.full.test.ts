import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Product } from '../../protocol/products.ts';
import { PRODUCT } from '../support/conformance/operations.ts';
import { axeViolations } from '../support/player/axe.ts';
import { SCREENS, SceneFixture } from '../support/player/scene-fixture.ts';
import { ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';

// What the host sells, as viewers see it.

const controls = (page: Page) => page.locator('media-fullscreen-button');

async function expectClearOfControls(page: Page): Promise<void> {
  const overlay = page.locator('#stage').getByRole('complementary', { name: 'For sale' });
  await controls(page).waitFor();
  await overlay.waitFor();
  const top = (await controls(page).boundingBox())?.y ?? 0;
  const { y = 0, height = 0 } = (await overlay.boundingBox()) ?? {};
  expect({ isInside: y > 0, isAbove: y + height <= top }).toEqual({
    isInside: true,
    isAbove: true,
  });
}

const card = (page: Page) => page.getByRole('complementary', { name: 'For sale' });

describe('a scene with a product', () => {
  let fixture: SceneFixture;
  beforeAll(async () => {
    fixture = await SceneFixture.start();
  }, 30_000);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.close());

  test('[P-31] the card has price and remaining stock, and links to the shop in a new tab', async () => {
    const page = await fixture.open('product', 'phone', { locale: 'de' });
    await card(page).getByText('Quiz night mug').waitFor();
    await card(page).getByText('12,50\u00a0€ · only 4 left').waitFor();
    const link = card(page).getByRole('link', { name: 'Buy (opens a new tab)' });
    expect(await link.getAttribute('href')).toBe('https://shop.example.org/mug');
    expect(await link.getAttribute('rel')).toBe('noreferrer');
    await page.getByRole('status').getByText('For sale: Quiz night mug').waitFor();
    await card(page).getByRole('button', { name: 'Close the offer' }).click();
    await card(page).waitFor({ state: 'detached' });
  });

  test('[P-31] a sold-out product has no link', async () => {
    const page = await fixture.open('product-sold-out', 'desktop');
    await card(page).getByText('Sold out').waitFor();
    expect(await card(page).getByRole('link').count()).toBe(0);
  });

  test('over the video of an embedded page a product covers no controls, and has no axe violations', async () => {
    for (const screen of ['phone', 'landscape', 'desktop'] as const) {
      const page = await fixture.open('product&bare', screen, { isPlaying: true });
      await expectClearOfControls(page);
      expect([screen, await axeViolations(page)]).toEqual([screen, []]);
    }
  }, 30_000);

  test('a product is over the video in full screen', async () => {
    const page = await fixture.open('product', 'desktop', { isPlaying: true });
    await controls(page).click();
    await page.waitForFunction('document.fullscreenElement !== null');
    await expectClearOfControls(page);
  });
});

describe('a show that sells', () => {
  let fixture: ShowFixture;
  let streamId: string;
  let session: WatchSession;
  beforeAll(async () => {
    fixture = await ShowFixture.start();
    streamId = await fixture.createStream();
    await fixture.studio('POST', `/streams/${streamId}/start`);
    session = await fixture.watch(streamId, SCREENS.phone);
    await session.page.getByText('No messages yet').waitFor();
  }, 60_000);
  afterAll(() => fixture?.close());

  const products = (method: string, path: string, body?: unknown) =>
    fixture.studio<Product>(method, `/streams/${streamId}/products${path}`, body);

  test('[P-31] [P-32] viewers see a product while it is shown, and its stock until it is sold out', async () => {
    const { page } = session;
    const { id } = await products('POST', '', { ...PRODUCT, picture_url: null });
    await products('POST', `/${id}/show`);
    await card(page).getByText('only 3 left').waitFor();
    const buy = (quantity: number) =>
      fixture.studio('POST', `/streams/${streamId}/events`, {
        type: 'purchase',
        data: { name: 'Ada', text: 'bought mugs', productId: id, quantity },
      });
    await buy(2);
    await card(page).getByText('only 1 left').waitFor();
    const late = await fixture.watch(streamId, SCREENS.desktop);
    await card(late.page).getByText('only 1 left').waitFor();
    await buy(1);
    await card(page).getByText('Sold out').waitFor();
    await card(late.page).getByText('Sold out').waitFor();
    await products('POST', `/${id}/hide`);
    await card(page).waitFor({ state: 'detached' });
    await card(late.page).waitFor({ state: 'detached' });
    expect([...session.errors, ...late.errors]).toEqual([]);
    await late.context.close();
  }, 30_000);

  test('[P-31] a viewer who closed the card sees the next product', async () => {
    const { page } = session;
    const { id } = await products('POST', '', { ...PRODUCT, name: 'Hat', picture_url: null });
    await products('POST', `/${id}/show`);
    await card(page).getByRole('button', { name: 'Close the offer' }).click();
    await card(page).waitFor({ state: 'detached' });
    await products('POST', `/${id}/hide`);
    await products('POST', `/${id}/show`);
    const next = await products('POST', '', { ...PRODUCT, name: 'Scarf', picture_url: null });
    await products('POST', `/${next.id}/show`);
    await card(page).getByText('Scarf').waitFor();
  }, 30_000);
});
