import { beforeEach, describe, expect, test } from 'bun:test';
import {
  type FakeViewer,
  fakeViewer,
  QUIZ,
  RESULTS,
} from '../../test/support/player/pages/fake-viewer.ts';
import { type BridgedVideo, type Outside, outsideOf, startBridge } from './bridge.ts';

class FakeVideo extends EventTarget implements BridgedVideo {
  paused = true;
  muted = true;
  refuses = false;

  async play() {
    if (this.refuses) throw new Error('NotAllowedError');
    this.paused = false;
    this.dispatchEvent(new Event('playing'));
  }

  pause() {
    this.paused = true;
    this.dispatchEvent(new Event('pause'));
  }
}

type Message = Parameters<Outside['post']>[0];

let viewer: FakeViewer;
let video: FakeVideo;
let told: Message[];
let say: (data: unknown) => void;
let end: () => void;

beforeEach(() => {
  viewer = fakeViewer();
  video = new FakeVideo();
  told = [];
  say = () => {};
  end = startBridge(viewer, video, {
    post: (message) => told.push(message),
    onMessage: (listener) => {
      say = listener;
      return () => {
        say = () => {};
      };
    },
  });
});

const ofType = (type: Message['type']) => told.filter((message) => message.type === type);

describe('the page outside is told', () => {
  test('that it is ready, and then how things are', () => {
    expect(told.map(({ source, type }) => [source, type])).toEqual([
      ['fourbeat', 'ready'],
      ['fourbeat', 'state'],
      ['fourbeat', 'count'],
      ['fourbeat', 'quiz'],
    ]);
    expect(told[0]).toMatchObject({ streamId: viewer.streamId });
    expect(told[1]).toMatchObject({
      ...{ state: 'live', status: 'STREAMING' },
      ...{ isPlaying: false, isMuted: true },
    });
    expect(told[2]).toMatchObject({ value: 1_234, formatted: '1.2K' });
  });

  test('what changed, and not what did not', () => {
    told.length = 0;
    viewer.show({ count: { value: 1_235, formatted: '1.2K' } });
    viewer.show({ hearts: 3 });
    expect(told).toMatchObject([{ type: 'count', value: 1_235 }]);
  });

  test('of a quiz from its question to its results', () => {
    viewer.setRemaining(10_000);
    viewer.show({ quiz: { quiz: QUIZ, choice: null, outcome: null, results: null } });
    viewer.show({ quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS } });
    viewer.show({ quiz: null });
    const [, asked, over, none] = ofType('quiz');
    expect(asked).toMatchObject({ quiz: { quiz: { question: QUIZ.question }, results: null } });
    expect((asked as { remainingMs: number }).remainingMs).toBeWithin(9_000, 10_001);
    expect(over).toMatchObject({ quiz: { choice: 'Mars', results: { answer: 'Jupiter' } } });
    expect(none).toMatchObject({ quiz: null });
  });

  test('each event, also two that are the same', () => {
    const event = { interval: 7, type: 'x-goal', data: { team: 'red' } };
    viewer.tell('event', event);
    viewer.tell('event', event);
    const message = {
      type: 'event',
      interval: 7,
      event: { type: 'x-goal', data: { team: 'red' } },
    };
    expect(ofType('event')).toEqual([
      { source: 'fourbeat', ...message },
      { source: 'fourbeat', ...message },
    ] as Message[]);
  });
});

describe('the page outside says', () => {
  test('play and pause, and is told that it did', async () => {
    say({ type: 'play' });
    expect(video.paused).toBe(false);
    expect(told.at(-1)).toMatchObject({ type: 'state', isPlaying: true });
    say({ type: 'pause' });
    expect(told.at(-1)).toMatchObject({ type: 'state', isPlaying: false });
    video.refuses = true;
    say({ type: 'play' });
    expect(video.paused).toBe(true);
  });

  test('mute and unmute', () => {
    say({ type: 'unmute' });
    expect(video.muted).toBe(false);
    say({ type: 'mute' });
    expect(video.muted).toBe(true);
  });

  test('what the viewer is called, as long as names may be', () => {
    say({ type: 'name', name: `  ${'Ann'.repeat(30)}` });
    expect(viewer.name).toBe('Ann'.repeat(30).slice(0, 40));
  });

  test.each([
    {
      what: 'ends in the middle of a sign',
      said: `${'a'.repeat(39)}😀b`,
      name: `${'a'.repeat(39)}😀`,
    },
    { what: 'is on more than one line', said: '\tAnn\nLee', name: 'Ann Lee' },
  ])('a name that $what, as the service takes it [G-20]', ({ said, name }) => {
    say({ type: 'name', name: said });
    expect(viewer.name).toBe(name);
  });

  test.each([
    { what: 'null', data: null },
    { what: 'a number', data: 1 },
    { what: 'a text', data: 'play' },
    { what: 'a list', data: ['play'] },
    { what: 'no type', data: {} },
    { what: 'another type', data: { type: 'leave' } },
    { what: 'a name that is missing', data: { type: 'name' } },
    { what: 'a name that is no text', data: { type: 'name', name: 1 } },
  ])('nothing with $what', ({ data }) => {
    say(data);
    expect(video.paused).toBe(true);
    expect(viewer.name).toBe('');
  });

  test('nothing after the end, and hears nothing', () => {
    end();
    told.length = 0;
    say({ type: 'play' });
    viewer.show({ count: null });
    video.dispatchEvent(new Event('pause'));
    expect(video.paused).toBe(true);
    expect(told).toEqual([]);
  });
});

describe('the parent of a page', () => {
  const SHOP = 'https://shop.example';

  /** A page in another, which keeps what is posted to it. */
  function framed() {
    const posted: unknown[] = [];
    const parent = { postMessage: (...sent: unknown[]) => posted.push(sent) };
    const page = Object.assign(new EventTarget(), { parent });
    const arrive = (event: { source: unknown; origin: string; data: unknown }) =>
      page.dispatchEvent(Object.assign(new Event('message'), event));
    return { page: page as unknown as Window, parent, posted, arrive };
  }

  test('is there in a frame alone', () => {
    const { page } = framed();
    expect(outsideOf(page, SHOP)).not.toBeNull();
    const own = { parent: null as unknown };
    own.parent = own;
    expect(outsideOf(own as unknown as Window, SHOP)).toBeNull();
  });

  test('is posted to by its origin, so that another page in its place hears nothing', () => {
    const { page, posted } = framed();
    outsideOf(page, SHOP)?.post({ source: 'fourbeat', type: 'ready', streamId: 's' });
    expect(posted).toEqual([[{ source: 'fourbeat', type: 'ready', streamId: 's' }, SHOP]]);
  });

  test('is heard, and no other window or origin', () => {
    const { page, parent, arrive } = framed();
    const heard: unknown[] = [];
    const stop = outsideOf(page, SHOP)?.onMessage((data) => heard.push(data));
    arrive({ source: parent, origin: SHOP, data: 'from the parent' });
    arrive({ source: parent, origin: 'https://other.example', data: 'from another origin' });
    arrive({ source: {}, origin: SHOP, data: 'from another window' });
    stop?.();
    arrive({ source: parent, origin: SHOP, data: 'too late' });
    expect(heard).toEqual(['from the parent']);
  });
});
