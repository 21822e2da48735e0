import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// The camera of a browser as the source of a show.

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.start(['--media-preset', 'ultrafast']);
  owner = await fixture.openOwner();
  ({ id: streamId } = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title: 'A' }));
}, 90_000);
afterAll(() => fixture?.close());

const send = (action: string) => fixture.call(owner, 'POST', `/streams/${streamId}/${action}`);
/** The service has the camera's video; a busy machine encodes it slowly. */
const receiving = () => owner.page.getByText(/^(Receiving video|Too slow)$/);
const preview = () => owner.page.getByLabel('Camera preview');

/** States of the devices that were captured when this was last called with `true`. */
const deviceStates = (isFirst: boolean) =>
  owner.page.evaluate<string[]>(
    `(() => {
      const video = document.querySelector('video[aria-label="Camera preview"]');
      if (${isFirst}) globalThis.devices = video.srcObject.getTracks();
      return devices.map(({ readyState }) => readyState);
    })()`,
  );

test('[M-4] [S-19] the end of a show releases the camera, which can start again after reopening', async () => {
  const { page } = owner;
  await page.goto(`${fixture.url}/studio/streams/${streamId}`);
  await button(page, 'Start camera').click();
  await receiving().waitFor({ timeout: 30_000 });
  const camera = page.getByText('This browser’s camera').locator('..');
  await camera.getByText('Preview', { exact: true }).waitFor();
  await send('start');
  await camera.getByText('Live', { exact: true }).waitFor();
  await preview().waitFor();
  expect(await deviceStates(true)).toEqual(['live', 'live']);
  await send('end');
  await until('the devices are released', async () =>
    (await deviceStates(false)).every((state) => state === 'ended'),
  );
  await send('reopen');
  await page.getByText('No video', { exact: true }).waitFor();
  await button(page, 'Start camera').click();
  await preview().waitFor();
  await receiving().waitFor({ timeout: 30_000 });
  await button(page, 'Stop camera').click();
  expect(owner.errors).toEqual([]);
}, 90_000);
