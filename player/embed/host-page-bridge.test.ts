import { beforeEach, describe, expect, test } from 'bun:test';
import {
  type FakeViewer,
  fakeViewer,
  QUIZ,
  RESULTS,
} from '../../test/support/player/pages/fake-viewer.ts';
import {
  type BridgedVideo,
  type HostPage,
  hostPageOf,
  startHostPageBridge,
} from './host-page-bridge.ts';

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

type Message = Parameters<HostPage['post']>[0];

let viewer: FakeViewer;
let video: FakeVideo;
/** The messages to the host page. */
let posted: Message[];
/** Sends data from the host page. */
let send: (data: unknown) => void;
let stop: () => void;

beforeEach(() => {
  viewer = fakeViewer();
  video = new FakeVideo();
  posted = [];
  send = () => {};
  stop = startHostPageBridge(viewer, video, {
    post: (message) => posted.push(message),
    onMessage: (listener) => {
      send = listener;
      return () => {
        send = () => {};
      };
    },
  });
});

const ofType = (type: Message['type']) => posted.filter((message) => message.type === type);

describe('the host page receives', () => {
  test('"ready", then the whole state', () => {
    expect(posted.map(({ source, type }) => [source, type])).toEqual([
      ['fourbeat', 'ready'],
      ['fourbeat', 'state'],
      ['fourbeat', 'count'],
      ['fourbeat', 'quiz'],
    ]);
    expect(posted[0]).toMatchObject({ streamId: viewer.streamId });
    expect(posted[1]).toMatchObject({
      ...{ state: 'live', status: 'STREAMING' },
      ...{ isPlaying: false, isMuted: true },
    });
    expect(posted[2]).toMatchObject({ value: 1_234, formatted: '1.2K' });
  });

  test('only changes', () => {
    posted.length = 0;
    viewer.show({ count: { value: 1_235, formatted: '1.2K' } });
    viewer.show({ hearts: 3 });
    expect(posted).toMatchObject([{ type: 'count', value: 1_235 }]);
  });

  test('a quiz from its question to its results', () => {
    viewer.setRemaining(10_000);
    viewer.show({ quiz: { quiz: QUIZ, choice: null, outcome: null, results: null } });
    viewer.show({ quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS } });
    viewer.show({ quiz: null });
    const [, open, revealed, none] = ofType('quiz');
    expect(open).toMatchObject({ quiz: { quiz: { question: QUIZ.question }, results: null } });
    expect((open as { remainingMs: number }).remainingMs).toBeWithin(9_000, 10_001);
    expect(revealed).toMatchObject({ quiz: { choice: 'Mars', results: { answer: 'Jupiter' } } });
    expect(none).toMatchObject({ quiz: null });
  });

  test('each event, also two equal ones', () => {
    const event = { interval: 7, type: 'x-goal', data: { team: 'red' } };
    viewer.emit('event', event);
    viewer.emit('event', event);
    const { interval, ...rest } = event;
    const message: Message = { source: 'fourbeat', type: 'event', interval, event: rest };
    expect(ofType('event')).toEqual([message, message]);
  });
});

describe('a command of the host page', () => {
  test('plays and pauses, and the state is posted', async () => {
    send({ type: 'play' });
    expect(video.paused).toBe(false);
    expect(posted.at(-1)).toMatchObject({ type: 'state', isPlaying: true });
    send({ type: 'pause' });
    expect(posted.at(-1)).toMatchObject({ type: 'state', isPlaying: false });
    video.refuses = true;
    send({ type: 'play' });
    expect(video.paused).toBe(true);
  });

  test('mutes and unmutes', () => {
    send({ type: 'unmute' });
    expect(video.muted).toBe(false);
    send({ type: 'mute' });
    expect(video.muted).toBe(true);
  });

  test('sets a name, cut to the maximum length', () => {
    send({ type: 'name', name: `  ${'Ann'.repeat(30)}` });
    expect(viewer.name).toBe('Ann'.repeat(30).slice(0, 40));
  });

  test.each([
    {
      what: 'that would be cut within a surrogate pair',
      sent: `${'a'.repeat(39)}😀b`,
      name: `${'a'.repeat(39)}😀`,
    },
    { what: 'with line breaks', sent: '\tAnn\nLee', name: 'Ann Lee' },
  ])('[G-20] sets a name $what, in the form that the service accepts', ({ sent, name }) => {
    send({ type: 'name', name: sent });
    expect(viewer.name).toBe(name);
  });

  test.each([
    { what: 'null', data: null },
    { what: 'a number', data: 1 },
    { what: 'a string', data: 'play' },
    { what: 'an array', data: ['play'] },
    { what: 'no type', data: {} },
    { what: 'an unknown type', data: { type: 'leave' } },
    { what: 'a missing name', data: { type: 'name' } },
    { what: 'a name that is not a string', data: { type: 'name', name: 1 } },
  ])('is ignored when it is $what', ({ data }) => {
    send(data);
    expect(video.paused).toBe(true);
    expect(viewer.name).toBe('');
  });

  test('is ignored after the stop, and nothing is posted', () => {
    stop();
    posted.length = 0;
    send({ type: 'play' });
    viewer.show({ count: null });
    video.dispatchEvent(new Event('pause'));
    expect(video.paused).toBe(true);
    expect(posted).toEqual([]);
  });
});

describe('the host page of a window', () => {
  const SHOP = 'https://shop.example';

  /** A page in a frame, and the messages that it posted to its parent. */
  function framedPage() {
    const posted: unknown[] = [];
    const parent = { postMessage: (...sent: unknown[]) => posted.push(sent) };
    const page = Object.assign(new EventTarget(), { parent });
    const arrive = (event: { source: unknown; origin: string; data: unknown }) =>
      page.dispatchEvent(Object.assign(new Event('message'), event));
    return { page: page as unknown as Window, parent, posted, arrive };
  }

  test('exists only in a frame', () => {
    const { page } = framedPage();
    expect(hostPageOf(page, SHOP)).not.toBeNull();
    const topWindow = { parent: null as unknown };
    topWindow.parent = topWindow;
    expect(hostPageOf(topWindow as unknown as Window, SHOP)).toBeNull();
  });

  test('gets messages for its origin only, so that another page in its place gets none', () => {
    const { page, posted } = framedPage();
    hostPageOf(page, SHOP)?.post({ source: 'fourbeat', type: 'ready', streamId: 's' });
    expect(posted).toEqual([[{ source: 'fourbeat', type: 'ready', streamId: 's' }, SHOP]]);
  });

  test('is the only window and origin whose messages arrive', () => {
    const { page, parent, arrive } = framedPage();
    const received: unknown[] = [];
    const stop = hostPageOf(page, SHOP)?.onMessage((data) => received.push(data));
    arrive({ source: parent, origin: SHOP, data: 'from the parent' });
    arrive({ source: parent, origin: 'https://other.example', data: 'from another origin' });
    arrive({ source: {}, origin: SHOP, data: 'from another window' });
    stop?.();
    arrive({ source: parent, origin: SHOP, data: 'too late' });
    expect(received).toEqual(['from the parent']);
  });
});
