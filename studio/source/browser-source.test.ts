import { expect, test } from 'bun:test';
import { FakeTime } from '../../test/support/studio/fake-time.ts';
import {
  BrowserSource,
  type BrowserSourceState,
  browserOf,
  type RecorderOptions,
  type SourceRecorder,
  type SourceSocket,
} from './browser-source.ts';

class FakeSocket implements SourceSocket {
  bufferedAmount = 0;
  onopen: SourceSocket['onopen'] = null;
  onmessage: SourceSocket['onmessage'] = null;
  onclose: SourceSocket['onclose'] = null;
  readonly sent: (string | Blob)[] = [];
  isClosed = false;
  constructor(readonly url: string) {}
  send(data: string | Blob) {
    this.sent.push(data);
  }
  close() {
    this.isClosed = true;
  }
  receives(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  closeWith(code: number, reason = '') {
    this.onclose?.({ code, reason });
  }
}

class FakeRecorder implements SourceRecorder {
  ondataavailable: SourceRecorder['ondataavailable'] = null;
  onstop: SourceRecorder['onstop'] = null;
  onerror: SourceRecorder['onerror'] = null;
  timesliceMs = 0;
  isStopped = false;
  constructor(readonly options: RecorderOptions) {}
  start(timesliceMs: number) {
    this.timesliceMs = timesliceMs;
  }
  stop() {
    this.isStopped = true;
  }
}

/** A source with fake browser functions and their history. */
function createFixture(
  supported: readonly string[] = ['video/webm;codecs=vp8,opus', 'video/webm'],
) {
  const sockets: FakeSocket[] = [];
  const recorders: FakeRecorder[] = [];
  const states: BrowserSourceState[] = [];
  const time = new FakeTime();
  const source = new BrowserSource({
    stream: 'the stream',
    url: 'ws://localhost/media/1/ingest',
    key: 'sk_1',
    onState: (state) => states.push(state),
    browser: {
      isTypeSupported: (type) => supported.includes(type),
      newRecorder: (_, options) => append(recorders, new FakeRecorder(options)),
      newSocket: (url) => append(sockets, new FakeSocket(url)),
      nowMs: time.nowMs,
      after: time.after,
    },
  });
  return {
    source,
    sockets,
    recorders,
    states,
    time,
    advance: time.advance,
    socket: () => sockets.at(-1) as FakeSocket,
    recorder: () => recorders.at(-1) as FakeRecorder,
    state: () => states.at(-1),
    goLive() {
      sockets.at(-1)?.onopen?.();
      sockets.at(-1)?.receives({ state: 'live' });
    },
  };
}

function append<Item>(all: Item[], item: Item): Item {
  all.push(item);
  return item;
}

function live(...of: Parameters<typeof createFixture>) {
  const fixture = createFixture(...of);
  fixture.source.start();
  fixture.goLive();
  return fixture;
}

test('[M-4] sends key and type first and records after the state "live"', () => {
  const { source, socket, recorders, recorder, states } = createFixture();
  source.start();
  expect(socket().url).toBe('ws://localhost/media/1/ingest');
  socket().onopen?.();
  expect(socket().sent).toEqual(['{"key":"sk_1","type":"video/webm;codecs=vp8,opus"}']);
  expect(recorders).toHaveLength(0);
  socket().receives({ state: 'live' });
  expect(recorder().timesliceMs).toBe(250);
  expect(recorder().options.mimeType).toBe('video/webm;codecs=vp8,opus');
  expect(states).toEqual([{ state: 'connecting' }, { state: 'live', isSlow: false }]);
});

test('[M-4] sends the recording in order in small messages', async () => {
  const { socket, recorder } = live();
  const bytes = new Uint8Array(600_000).map((_, at) => at);
  recorder().ondataavailable?.({ data: new Blob([]) });
  recorder().ondataavailable?.({ data: new Blob([bytes]) });
  const parts = socket().sent.slice(1) as Blob[];
  expect(parts.map(({ size }) => size)).toEqual([262_144, 262_144, 75_712]);
  expect(new Uint8Array(await new Blob(parts).arrayBuffer())).toEqual(bytes);
});

test('[M-4] uses the best type that the browser supports', () => {
  const all = ['video/webm;codecs=vp9,opus', 'video/webm;codecs=h264,opus', 'video/webm'];
  expect(live(all).recorder().options.mimeType).toBe('video/webm;codecs=h264,opus');
  const none = createFixture(['video/mp4']);
  none.source.start();
  expect(none.state()).toEqual({
    state: 'refused',
    reason: 'This browser cannot send video. Use another browser, or an encoder such as OBS.',
  });
  expect(none.sockets).toHaveLength(0);
});

test.each([4401, 4409, 4410, 4415])(
  '[M-4] treats close code %d as final, with its reason',
  (code) => {
    const { source, socket, state, time } = createFixture();
    source.start();
    socket().onopen?.();
    socket().closeWith(code, 'The reason.');
    expect(state()).toEqual({ state: 'refused', reason: 'The reason.' });
    expect(time.pendingTimers).toBe(0);
  },
);

test('[M-7] reconnects with a new recorder', () => {
  const fixture = live();
  const [first] = fixture.recorders;
  fixture.socket().closeWith(1006);
  expect(fixture.state()).toEqual({ state: 'reconnecting' });
  expect(first?.isStopped).toBe(true);
  expect(first?.ondataavailable).toBeNull();
  fixture.advance(250);
  expect(fixture.sockets).toHaveLength(2);
  fixture.goLive();
  expect(fixture.recorders).toHaveLength(2);
  expect(fixture.state()).toEqual({ state: 'live', isSlow: false });
});

test('[M-7] retries until the service has dropped the previous connection', () => {
  const fixture = live();
  fixture.socket().closeWith(1006);
  fixture.advance(250);
  fixture.socket().closeWith(4409, 'The stream has a source.');
  expect(fixture.state()).toEqual({ state: 'reconnecting' });
  fixture.advance(500);
  fixture.goLive();
  expect(fixture.state()).toEqual({ state: 'live', isSlow: false });
});

test('[M-7] retries with a bounded backoff until the stream has ended', () => {
  const fixture = live();
  fixture.advance(60_000);
  fixture.socket().closeWith(1006);
  const atMs: number[] = [];
  for (let ms = 50; ms <= 320_000; ms += 50) {
    const before = fixture.sockets.length;
    fixture.advance(50);
    if (fixture.sockets.length === before) continue;
    atMs.push(ms);
    fixture.socket().closeWith(1006);
  }
  expect(atMs.slice(0, 6)).toEqual([250, 750, 1_750, 3_750, 7_750, 11_750]);
  expect(atMs.at(-1)).toBeGreaterThan(315_000);
  expect(fixture.state()).toEqual({ state: 'reconnecting' });
  fixture.advance(4_000);
  fixture.goLive();
  expect(fixture.state()).toEqual({ state: 'live', isSlow: false });

  fixture.socket().closeWith(1006);
  fixture.advance(4_000);
  fixture.socket().closeWith(4410, 'The stream has ended.');
  expect(fixture.state()).toEqual({ state: 'refused', reason: 'The stream has ended.' });
  expect(fixture.time.pendingTimers).toBe(0);
});

test('[M-7] stops on request while it reconnects', () => {
  const fixture = live();
  fixture.socket().closeWith(1006);
  fixture.advance(60_000);
  fixture.source.stop();
  expect(fixture.state()).toEqual({ state: 'stopped', reason: 'Stopped.' });
  expect(fixture.time.pendingTimers).toBe(0);
});

test('[M-7] starts its backoff again only after it was live for 10 s', () => {
  const waitMs = (liveMs: number) => {
    const fixture = live();
    for (const ms of [250, 500, 1_000]) {
      fixture.socket().closeWith(1006);
      fixture.advance(ms);
    }
    fixture.goLive();
    fixture.advance(liveMs);
    fixture.socket().closeWith(1006);
    const before = fixture.sockets.length;
    let waitedMs = 0;
    while (fixture.sockets.length === before) {
      fixture.advance(50);
      waitedMs += 50;
    }
    return waitedMs;
  };
  expect([waitMs(9_900), waitMs(10_000)]).toEqual([2_000, 250]);
});

test('[M-4] reconnects once after an end while live, then treats it as final', () => {
  const fixture = live();
  fixture.socket().receives({ state: 'ended', reason: 'The stream has ended.' });
  fixture.socket().closeWith(4410, 'The stream has ended.');
  expect(fixture.state()).toEqual({ state: 'reconnecting' });
  fixture.advance(250);
  fixture.socket().onopen?.();
  fixture.socket().closeWith(4410, 'The stream has ended.');
  expect(fixture.state()).toEqual({ state: 'refused', reason: 'The stream has ended.' });
});

test('[M-4] retries when the service does not answer', () => {
  const fixture = createFixture();
  fixture.source.start();
  fixture.socket().onopen?.();
  fixture.advance(10_250);
  expect(fixture.sockets).toHaveLength(2);
  expect(fixture.sockets[0]?.isClosed).toBe(true);
  expect(fixture.sockets[0]?.onmessage).toBeNull();
});

test('[M-4] restarts with a lower bit rate when the backlog grows, down to a minimum', () => {
  const fixture = live();
  const rates: number[] = [];
  for (let n = 0; n < 8; n++) {
    rates.push(fixture.recorder().options.videoBitsPerSecond);
    fixture.socket().bufferedAmount = 3_000_000;
    fixture.recorder().ondataavailable?.({ data: new Blob(['x']) });
    expect(fixture.state()).toEqual({ state: 'reconnecting' });
    fixture.advance(4_000);
    fixture.goLive();
    fixture.advance(10_000);
  }
  expect(rates[0]).toBe(4_000_000);
  expect(rates[1]).toBe(2_400_000);
  expect(rates.at(-1)).toBe(400_000);
});

test('[M-4] reports whether the service keeps up, and ignores invalid messages', () => {
  const fixture = live();
  fixture.socket().receives({ state: 'slow' });
  expect(fixture.state()).toEqual({ state: 'live', isSlow: true });
  fixture.socket().receives({ state: 'live' });
  expect(fixture.state()).toEqual({ state: 'live', isSlow: false });
  fixture.socket().onmessage?.({ data: 'not JSON' });
  fixture.socket().onmessage?.({ data: 'null' });
  expect(fixture.recorders).toHaveLength(1);
});

test('[M-4] stops on request or without a camera, and reports nothing after', () => {
  const stopped = live();
  stopped.source.stop();
  expect(stopped.state()).toEqual({ state: 'stopped', reason: 'Stopped.' });
  expect(stopped.recorder().isStopped).toBe(true);
  expect(stopped.socket().isClosed).toBe(true);
  expect(stopped.time.pendingTimers).toBe(0);
  stopped.source.stop();
  stopped.source.start();
  expect(stopped.states).toHaveLength(3);

  const gone = live();
  gone.recorder().onstop?.();
  const reason =
    'The camera or microphone was disconnected. Connect it and start the camera again.';
  expect(gone.state()).toEqual({ state: 'stopped', reason });
});

test('[M-4] replaces a failed recorder and stops when none can be created', () => {
  const failing = live();
  failing.recorder().onerror?.();
  expect(failing.state()).toEqual({ state: 'reconnecting' });

  const states: BrowserSourceState[] = [];
  const socket = new FakeSocket('');
  const browser = browserOf<string>({
    MediaRecorder: class {
      static isTypeSupported = () => true;
      constructor() {
        throw new Error('no tracks');
      }
    },
    WebSocket: class {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: the constructor hands over a fake
        return socket;
      }
    },
  });
  const onState = (state: BrowserSourceState) => void states.push(state);
  new BrowserSource({ stream: '', url: '', key: '', onState, browser }).start();
  socket.receives({ state: 'live' });
  expect(states.at(-1)).toEqual({ state: 'stopped', reason: 'Recording failed: no tracks' });
});
