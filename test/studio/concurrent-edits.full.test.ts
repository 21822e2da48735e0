import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Product } from '../../protocol/products.ts';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import type { Webhook } from '../../protocol/webhooks.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, field } from '../support/studio/studio-pages.ts';

// A host has a form open while purchases arrive and another host changes other fields.

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  streamId = (await api<StudioStream>('POST', '/streams', { title: 'Market night' })).id;
}, 60_000);
afterAll(() => fixture?.close());

const api = <T>(method: string, path: string, data?: unknown) =>
  fixture.call<T>(owner, method, path, data);
const open = (path: string) => owner.page.goto(`${fixture.url}/studio${path}`);
const dialog = () => owner.page.getByRole('dialog');

async function chooseEdit(menu: string): Promise<void> {
  await button(owner.page, menu).click();
  await owner.page.getByRole('menuitem', { name: 'Edit' }).click();
}

async function save(): Promise<void> {
  await button(dialog(), 'Save').click();
  await dialog().waitFor({ state: 'detached' });
}

test('[P-31] [P-32] a product whose price is edited keeps what purchases left of its stock', async () => {
  const { id } = await api<Product>('POST', `/streams/${streamId}/products`, {
    ...{ name: 'Mug', price: 1_250, currency: 'EUR', url: 'https://shop.example.org/mug' },
    stock: 5,
  });
  await open(`/streams/${streamId}`);
  await chooseEdit('Actions for Mug');
  await api('POST', `/streams/${streamId}/start`);
  await api('POST', `/streams/${streamId}/events`, {
    type: 'purchase',
    data: { name: 'Ada', text: 'bought them all', productId: id, quantity: 5 },
  });
  await dialog().getByRole('textbox', { name: 'Price' }).fill('13');
  await save();
  await owner.page.getByText('€13.00 · Sold out').waitFor();
  // Nothing to save: the form closes without a request, which the service would refuse.
  await chooseEdit('Actions for Mug');
  await save();
}, 60_000);

test('a show keeps what another host changes while its settings are edited', async () => {
  await open(`/streams/${streamId}`);
  await button(owner.page, 'Edit').click();
  // The page reads the stream every 3 s.
  const readAgain = owner.page.waitForResponse(async (response) =>
    response.url().endsWith(streamId) ? (await response.json()).keepOpen : false,
  );
  const changes = { keepOpen: true, latencyAllowance: 1_500 };
  await api('PATCH', `/streams/${streamId}`, changes);
  await readAgain;
  await field(dialog(), 'Title').fill('Market day');
  await save();
  const stream = await api<StudioStream>('GET', `/streams/${streamId}`);
  expect(stream).toMatchObject({ ...changes, title: 'Market day' });
}, 60_000);

test('a quiz keeps the time that another host sets while its question is edited', async () => {
  const { id } = await api<StudioQuiz>('POST', `/streams/${streamId}/quizzes`, {
    ...{ question: 'Which planet is red?', choices: ['Mars', 'Venus'], answer: 'Venus' },
    duration: 10_000,
  });
  await open(`/streams/${streamId}/rundown`);
  await chooseEdit('Actions for “Which planet is red?”');
  await api('PATCH', `/quizzes/${id}`, { answer: 'Mars', duration: 20_000 });
  await field(dialog(), 'Question').fill('Which planet is the hottest?');
  await save();
  const quiz = await api<StudioQuiz>('GET', `/quizzes/${id}`);
  // The answer is that of the form, beside its question.
  const saved = { question: 'Which planet is the hottest?', answer: 'Venus' };
  expect(quiz).toMatchObject({ ...saved, duration: 20_000 });
}, 60_000);

test('[H-4] a webhook keeps what another owner changes while its events are edited', async () => {
  const webhook = { url: 'https://hooks.example.org/old', events: ['winners'] };
  const { id } = await api<Webhook>('POST', '/webhooks', webhook);
  await open(`/webhooks/${id}`);
  await chooseEdit('More actions');
  const url = 'https://hooks.example.org/new';
  await api('PATCH', `/webhooks/${id}`, { url });
  await dialog().getByText('Show started').click();
  await save();
  const { results } = await api<{ results: Webhook[] }>('GET', '/webhooks');
  expect(results[0]).toMatchObject({ url, events: ['stream.started', 'winners'] });
}, 60_000);

test('the page logged no errors', () => {
  expect(owner.errors).toEqual([]);
});
