import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { StoredChatMessage } from '../../protocol/moderation.ts';
import type { Product } from '../../protocol/products.ts';
import type { StudioQuiz, StudioStream, WinnersRound } from '../../protocol/studio.ts';
import type { Webhook } from '../../protocol/webhooks.ts';
import { STUDIO_PATHS } from '../../server/web/studio-page.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';
import {
  HARMLESS_URL,
  type Inspection,
  inspect,
  policyFaults,
  TRAP,
} from '../support/web/hostile-page.ts';
import { HostileTexts, markersIn, type OpenApi } from '../support/web/hostile-texts.ts';
import { type OtherOrigin, SCRIPT_RAN, startOtherOrigin } from '../support/web/other-origin.ts';

// Every text that anybody can send tries to become markup or script, and every page that shows it is
// opened. Each test continues where the previous one stopped.

const WIDTHS = [1_440, 1_024, 390, 320];
const VIEWER = 'viewer-1';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const WEBHOOK_SETTINGS = ['--webhook-allow-http', '--webhook-allow-private', '127.0.0.1/32'];
/** Only pages may load pictures by http that show them to viewers. */
const EXPECTED_ERROR = /Content Security Policy directive: "img-src /;

/** Operations whose texts are no words that anybody reads. */
const NOT_SENT = {
  createToken: 'the identifier is neither stored nor sent',
  answerQuiz: 'only a choice of the quiz is accepted',
  signIn: 'an email that exists',
  lookAtSetupLink: 'a link that exists',
  lookAtLink: 'a link that exists',
  previewImport: 'is importQuizzes without a write',
  patchStream: 'the members of createStream',
  patchQuiz: 'the members of createQuiz',
  patchProduct: 'the members of createProduct',
  patchWebhook: 'the members of createWebhook',
};
let fixture: StudioFixture;
let elsewhere: OtherOrigin;
let texts: HostileTexts;
let owner: OpenedPage;
let viewer: OpenedPage;
let display: OpenedPage;
let streamId = '';
let product: Product;
let quiz: StudioQuiz;
let round: WinnersRound;
let webhook: Webhook | null = null;
const opened: OpenedPage[] = [];
/** The paths of the pages that were checked. */
const paths = new Set<string>();
/** Fields of which a page showed the text. */
const shown = new Set<string>();

beforeAll(async () => {
  fixture = await StudioFixture.startFirst(WEBHOOK_SETTINGS);
  elsewhere = startOtherOrigin();
  const document = await (await fetch(`${fixture.url}/openapi.json`)).json();
  texts = new HostileTexts(document as OpenApi, elsewhere.origin);
}, 30_000);
afterAll(async () => {
  await elsewhere?.stop();
  await fixture?.close();
});

/** Sends an operation of the studio as the owner, with hostile texts. */
async function send<T>(
  name: string,
  ids: Readonly<Record<string, string>> = {},
  given: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const { method, path, body } = texts.request(name, { stream_id: streamId, ...ids }, given);
  return fixture.call<T>(owner, method, path.replace('/studio/v1', ''), body);
}

/** A quiz whose answer is its first choice. */
function hostileQuiz() {
  const quiz = texts.bodyOf('createQuiz', { duration: 10_000, answer: undefined });
  const { choices } = quiz as { choices: string[] };
  return { ...quiz, answer: choices[0] };
}

/** The messages of the chat, as other operations take them. */
async function readChat(): Promise<StoredChatMessage[]> {
  type Page = { results: (StoredChatMessage & { interval: number; hidden: boolean })[] };
  const { results } = await fixture.call<Page>(owner, 'GET', `/streams/${streamId}/chat`);
  return results.map(({ interval: _, hidden: __, ...message }) => message);
}

/** Sends an operation of viewers, with hostile texts. @param identifier of the viewer */
async function sendAsViewer(
  identifier: string,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  const created = await fetch(`${fixture.url}/api/v1/token`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier }),
  });
  const { token } = (await created.json()) as { token: string };
  const { method, path, body } = texts.request(name, { stream_id: streamId }, given);
  const response = await fetch(fixture.url + path, {
    method,
    headers: { ...JSON_TYPE, Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  expect([name, response.status]).toEqual([name, 204]);
}

/** Sends an operation that a browser without a session may use, with hostile texts. */
async function enter(name: string, token: string): Promise<void> {
  const { path, body } = texts.request(name, {}, { token, password: PASSWORD });
  const context = name === 'setUp' ? owner.context : await fixture.browser.newContext();
  const response = await context.request.post(fixture.url + path, { data: body });
  expect([name, response.status()]).toEqual([name, 201]);
}

async function open(path: string, options = {}, script = ''): Promise<OpenedPage> {
  const page = await fixture.open(path, options, TRAP + script);
  opened.push(page);
  return page;
}

/** Waits until a page shows these fields, and checks that no text of the page is more than text. */
async function expectOnlyText(
  name: string,
  { page }: OpenedPage,
  fields: readonly string[],
): Promise<void> {
  const missing = () => fields.filter((field) => !shown.has(`${name}: ${field}`));
  let inspections: readonly Inspection[] = [];
  const look = async () => {
    inspections = await inspect(page);
    for (const marker of inspections.flatMap(({ text }) => markersIn(text))) {
      const field = texts.sent.get(marker) ?? marker;
      shown.add(field).add(`${name}: ${field}`);
    }
    return missing().length === 0;
  };
  await until(`${name} shows its texts`, look).catch(() => {});
  expect([name, missing()]).toEqual([name, []]);
  for (const { injected, hasRun, urls } of inspections) {
    expect([name, injected, hasRun]).toEqual([name, 0, false]);
    expect([name, urls.filter((url) => !HARMLESS_URL.test(url))]).toEqual([name, []]);
  }
  paths.add(
    new URL(page.url()).pathname.replace(streamId, ':id').replace(webhook?.id ?? '', ':id'),
  );
  const { headers } = await fetch(page.url());
  expect([name, policyFaults(headers, page.url())]).toEqual([name, []]);
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await saveScreenshot(page, `hostile-${name.replaceAll(/\W+/g, '-')}-${width}`);
    const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect([name, width, tooWide]).toEqual([name, width, 0]);
  }
  if (before) await page.setViewportSize(before);
}

const studio = async (path: string, fields: readonly string[]) => {
  await owner.page.goto(`${fixture.url}/studio${path}`);
  await expectOnlyText(`studio ${path.replace(streamId, 'ID')}`, owner, fields);
};

describe('texts that try to become script stay texts', () => {
  test('before the show: account, members, tokens, webhooks, set up, rundown', async () => {
    owner = await open('/studio/', { viewport: { width: 1_440, height: 900 } });
    await enter('setUp', fixture.setupLink.split('=').at(-1) ?? '');
    await send('patchOwnMember', {}, { currentPassword: PASSWORD, password: undefined });
    await send('createApiToken');
    const invitation = await send<{ link: string }>('invite', {}, { role: 'host' });
    const invited = await open(invitation.link);
    await expectOnlyText('invitation', invited, ['setUp.name', 'invite.email']);
    const ben = { role: 'moderator', email: 'ben@example.org' };
    const { link } = await send<{ link: string }>('invite', {}, ben);
    await enter('acceptLink', link.split('=').at(-1) ?? '');
    const events = ['stream.started', 'stream.ended', 'quiz.closed', 'winners'];
    webhook = await send<Webhook>('createWebhook', {}, { events });
    streamId = (await send<StudioStream>('createStream', {}, { color: '#2f6fed' })).id;
    const price = { price: 100, currency: 'EUR', stock: 2 };
    product = await send<Product>('createProduct', {}, price);
    const path = `/streams/${streamId}/quizzes`;
    quiz = await fixture.call<StudioQuiz>(owner, 'POST', path, hostileQuiz());
    const text = JSON.stringify([hostileQuiz()]);
    await send('importQuizzes', {}, { format: 'fourbeat-json', text });
    await studio('/', ['createStream.title', 'patchOwnMember.name']);
    await studio('/team', ['setUp.email', 'invite.email', 'acceptLink.name']);
    await studio('/tokens', ['createApiToken.name']);
    await studio('/webhooks', ['createWebhook.url']);
    await studio('/you', ['patchOwnMember.name']);
    await studio(`/streams/${streamId}`, ['createStream.title', 'createProduct.name']);
    await button(owner.page, 'Edit').click();
    await expectOnlyText('form of a show', owner, [
      ...['createStream.description', 'createStream.hls_url', 'createStream.dash_url'],
    ]);
    await studio(`/streams/${streamId}/rundown`, ['createQuiz.question']);
    await studio(`/streams/${streamId}/rehearsal`, ['createStream.title']);
    const lobby = await open(`/watch/${streamId}`, SCREENS.phone);
    await expectOnlyText('lobby', lobby, [
      'createStream.title',
      'createStream.description',
      'createStream.logo_url',
      'createStream.poster_url',
    ]);
  }, 120_000);

  test('during the show: chat, quiz, product, sales, on air, display, viewer page', async () => {
    await send('startStream');
    const identity = `localStorage.setItem('fourbeat-viewer', '${VIEWER}');`;
    viewer = await open(`/watch/${streamId}`, SCREENS.phone, identity);
    const embedded = await open(`/watch/${streamId}?embed&chat&facts`);
    await sendAsViewer(VIEWER, 'postChat', { kind: 'question' });
    await sendAsViewer('viewer-2', 'postChat', { kind: 'message' });
    for (const kind of ['greeting', 'cheer']) await sendAsViewer('viewer-3', 'postChat', { kind });
    await send('showProduct', { product_id: product.id });
    await send('sendEvent', {}, { type: 'purchase' });
    await until('the chat is sealed', async () => (await readChat()).length === 5);
    const messages = await readChat();
    const ofKind = (wanted: string) => {
      const message = messages.find(({ kind }) => kind === wanted);
      if (!message) throw new Error(`the chat has no ${wanted}`);
      return message;
    };
    const line = ofKind('question');
    await send('pinChatLine', {}, { line });
    await send('queueQuestion', { line_id: line.id }, { state: 'open', line });
    await send('muteViewer', { viewer: ofKind('cheer').viewer });
    await send('banViewer', { viewer: ofKind('message').viewer });
    const onChat = ['postChat.text', 'postChat.name'];
    await expectOnlyText('viewer page', viewer, [
      ...['postChat.text', 'createProduct.name', 'createProduct.url', 'createProduct.picture_url'],
    ]);
    await expectOnlyText('embedded page', embedded, onChat);
    await studio(`/streams/${streamId}/on-air`, onChat);
    await button(owner.page, 'Chat settings').click();
    await expectOnlyText('chat settings', owner, ['muteViewer.name', 'banViewer.name']);
    const { url } = await send<{ url: string }>('createPresenterKey');
    display = await open(url);
    await expectOnlyText('display before quiz', display, ['createStream.title']);
    const start = await open('/');
    await expectOnlyText('start page', start, ['createStream.title']);
  }, 120_000);

  test('results, winners and their contact details', async () => {
    const { page } = viewer;
    const onQuiz = ['createQuiz.question', 'createQuiz.choices'];
    await studio(`/streams/${streamId}/on-air`, ['createQuiz.question']);
    await fixture.call(owner, 'POST', `/quizzes/${quiz.id}/publish`);
    const [answer = ''] = markersIn(quiz.answer);
    await page.getByRole('button', { name: new RegExp(answer) }).click();
    await page.getByText('Answer locked in!').first().waitFor();
    await expectOnlyText('quiz', viewer, onQuiz);
    await expectOnlyText('display with quiz', display, onQuiz);
    await expectOnlyText('on air with quiz', owner, onQuiz);
    await page.getByText('Correct!').first().waitFor();
    await expectOnlyText('results', viewer, onQuiz);
    await expectOnlyText('display with results', display, onQuiz);
    round = await send<WinnersRound>('requestWinners');
    await page
      .getByText(/You won/)
      .first()
      .waitFor();
    await expectOnlyText('display with winners', display, ['postChat.name']);
    await button(page, 'Close').click();
    await send('requestContacts', { round_id: round.id });
    await sendAsViewer(VIEWER, 'saveOwnContact', { roundId: round.id });
    await page.reload();
    await button(page, 'Change').click();
    await expectOnlyText('contact form', viewer, [
      ...['requestContacts.note', 'saveOwnContact.name', 'saveOwnContact.contact'],
    ]);
    await studio(`/streams/${streamId}/on-air`, ['postChat.name']);
    await button(owner.page, 'Contact details: 1 of 1').click();
    await expectOnlyText('contacts', owner, [
      ...['requestContacts.note', 'saveOwnContact.name', 'saveOwnContact.contact'],
    ]);
  }, 120_000);

  test('after the show: report, webhook log, exports, replay', async () => {
    await send('endStream');
    await studio(`/streams/${streamId}/report`, ['createStream.title', 'createQuiz.question']);
    await studio(`/webhooks/${webhook?.id}`, ['createWebhook.url']);
    for (const delivery of await owner.page.getByRole('heading', { level: 3 }).all())
      await delivery.click();
    await expectOnlyText('deliveries', owner, ['createStream.title', 'createQuiz.question']);
    const replay = await open(`/watch/${streamId}`, SCREENS.phone);
    await expectOnlyText('ended', replay, ['createStream.title']);
    const other = encodeURIComponent(`${elsewhere.origin}/openapi.json`);
    const docs = await open(`/docs?url=${other}&configUrl=${other}`);
    await docs.page
      .getByRole('heading', { name: /^Fourbeat/ })
      .first()
      .waitFor();
    expect(elsewhere.paths).not.toContain('/openapi.json');
  }, 120_000);

  test('every text of OpenAPI was sent and shown', () => {
    const operations = texts.operations.filter((name) => !(name in NOT_SENT));
    expect(operations.filter((name) => !texts.filled.has(name))).toEqual([]);
    const fields = operations.flatMap((name) => texts.fieldsOf(name));
    expect(fields.filter((field) => !shown.has(field))).toEqual([]);
  });

  test('every page of the studio was opened', () => {
    const studioPaths = STUDIO_PATHS.map((path) => `/studio${path || '/'}`);
    expect(studioPaths.filter((path) => !paths.has(path))).toEqual([]);
  });

  test('no script ran, and no page sent its address to another origin', () => {
    expect(elsewhere.paths.length).toBeGreaterThan(0);
    expect(elsewhere.paths).not.toContain(SCRIPT_RAN);
    expect(elsewhere.referrers).toEqual([]);
    for (const { page, errors } of opened) {
      const unexpected = errors.filter((error) => !EXPECTED_ERROR.test(error));
      expect([page.url(), unexpected]).toEqual([page.url(), []]);
    }
  });
});
