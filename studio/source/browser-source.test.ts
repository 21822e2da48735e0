import { expect, test } from 'bun:test';
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
  says(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  closes(code: number, reason = '') {
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

/** A page: what it has made, and what it has been told. */
function page(supported: readonly string[] = ['video/webm;codecs=vp8,opus', 'video/webm']) {
  const sockets: FakeSocket[] = [];
  const recorders: FakeRecorder[] = [];
  const states: BrowserSourceState[] = [];
  const timers = new Set<{ atMs: number; then: () => void }>();
  let nowMs = 0;
  const source = new BrowserSource({
    stream: 'the stream',
    url: 'ws://localhost/media/1/ingest',
    key: 'sk_1',
    onState: (state) => states.push(state),
    browser: {
      isTypeSupported: (type) => supported.includes(type),
      newRecorder: (_, options) => last(recorders, new FakeRecorder(options)),
      newSocket: (url) => last(sockets, new FakeSocket(url)),
      nowMs: () => nowMs,
      after: (ms, then) => {
        const timer = { atMs: nowMs + ms, then };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  });
  return {
    source,
    sockets,
    recorders,
    states,
    timers,
    socket: () => sockets.at(-1) as FakeSocket,
    recorder: () => recorders.at(-1) as FakeRecorder,
    state: () => states.at(-1),
    goLive() {
      sockets.at(-1)?.onopen?.();
      sockets.at(-1)?.says({ state: 'live' });
    },
    /** Lets time pass, with what is due. */
    pass(ms: number) {
      const endMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (!next || next.atMs > endMs) break;
        nowMs = next.atMs;
        timers.delete(next);
        next.then();
      }
      nowMs = endMs;
    },
  };
}

function last<Made>(all: Made[], made: Made): Made {
  all.push(made);
  return made;
}

function live(...of: Parameters<typeof page>) {
  const shown = page(...of);
  shown.source.start();
  shown.goLive();
  return shown;
}

test('[M-4] key and type first; the recorder begins when the answer is live', () => {
  const { source, socket, recorders, recorder, states } = page();
  source.start();
  expect(socket().url).toBe('ws://localhost/media/1/ingest');
  socket().onopen?.();
  expect(socket().sent).toEqual(['{"key":"sk_1","type":"video/webm;codecs=vp8,opus"}']);
  expect(recorders).toHaveLength(0);
  socket().says({ state: 'live' });
  expect(recorder().timesliceMs).toBe(250);
  expect(recorder().options.mimeType).toBe('video/webm;codecs=vp8,opus');
  expect(states).toEqual([{ state: 'connecting' }, { state: 'live', isSlow: false }]);
});

test('[M-4] what is recorded goes out in order, in small messages', async () => {
  const { socket, recorder } = live();
  const bytes = new Uint8Array(600_000).map((_, at) => at);
  recorder().ondataavailable?.({ data: new Blob([]) });
  recorder().ondataavailable?.({ data: new Blob([bytes]) });
  const parts = socket().sent.slice(1) as Blob[];
  expect(parts.map(({ size }) => size)).toEqual([262_144, 262_144, 75_712]);
  expect(new Uint8Array(await new Blob(parts).arrayBuffer())).toEqual(bytes);
});

test('[M-4] the best type that the browser has is taken', () => {
  const all = ['video/webm;codecs=vp9,opus', 'video/webm;codecs=h264,opus', 'video/webm'];
  expect(live(all).recorder().options.mimeType).toBe('video/webm;codecs=h264,opus');
  const none = page(['video/mp4']);
  none.source.start();
  expect(none.state()).toEqual({ state: 'refused', reason: 'This browser cannot record WebM.' });
  expect(none.sockets).toHaveLength(0);
});

test.each([4401, 4409, 4410, 4415])('[M-4] a refusal with %d is final, with its reason', (code) => {
  const { source, socket, state, timers } = page();
  source.start();
  socket().onopen?.();
  socket().closes(code, 'The reason.');
  expect(state()).toEqual({ state: 'refused', reason: 'The reason.' });
  expect(timers.size).toBe(0);
});

test('[M-7] a line that drops is made again with a new recorder', () => {
  const shown = live();
  const [first] = shown.recorders;
  shown.socket().closes(1006);
  expect(shown.state()).toEqual({ state: 'reconnecting' });
  expect(first?.isStopped).toBe(true);
  expect(first?.ondataavailable).toBeNull();
  shown.pass(250);
  expect(shown.sockets).toHaveLength(2);
  shown.goLive();
  expect(shown.recorders).toHaveLength(2);
  expect(shown.state()).toEqual({ state: 'live', isSlow: false });
});

test('[M-7] coming back it waits for the line before to be seen as gone', () => {
  const shown = live();
  shown.socket().closes(1006);
  shown.pass(250);
  shown.socket().closes(4409, 'The stream has a source.');
  expect(shown.state()).toEqual({ state: 'reconnecting' });
  shown.pass(500);
  shown.goLive();
  expect(shown.state()).toEqual({ state: 'live', isSlow: false });
});

test('[M-7] it gives up after 30 s, with pauses that grow', () => {
  const shown = live();
  shown.pass(60_000);
  shown.socket().closes(1006);
  const atMs: number[] = [];
  for (let ms = 0; ms < 40_000; ms += 50) {
    const before = shown.sockets.length;
    shown.pass(50);
    if (shown.sockets.length > before) {
      atMs.push(ms + 50);
      shown.socket().closes(1006);
    }
  }
  expect(atMs.slice(0, 6)).toEqual([250, 750, 1_750, 3_750, 7_750, 11_750]);
  expect(atMs.at(-1)).toBeLessThan(35_000);
  expect(shown.state()).toEqual({
    state: 'stopped',
    reason: 'The service could not be reached for 30 s.',
  });
  expect(shown.timers.size).toBe(0);
});

test('[M-7] a source that drops again and again has 30 s in all, unless it was steady between', () => {
  const shown = live();
  for (let n = 0; n < 8; n++) {
    shown.socket().closes(1006);
    shown.pass(5_000);
    if (shown.state()?.state === 'reconnecting') shown.goLive();
  }
  expect(shown.state()?.state).toBe('stopped');

  const steady = live();
  for (let n = 0; n < 8; n++) {
    steady.pass(10_000);
    steady.socket().closes(1006);
    steady.pass(250);
    steady.goLive();
  }
  expect(steady.state()?.state).toBe('live');
});

test('[M-4] an end that comes while it is live is asked about, and then final', () => {
  const shown = live();
  shown.socket().says({ state: 'ended', reason: 'The stream has ended.' });
  shown.socket().closes(4410, 'The stream has ended.');
  expect(shown.state()).toEqual({ state: 'reconnecting' });
  shown.pass(250);
  shown.socket().onopen?.();
  shown.socket().closes(4410, 'The stream has ended.');
  expect(shown.state()).toEqual({ state: 'refused', reason: 'The stream has ended.' });
});

test('[M-4] a service that does not answer is asked again', () => {
  const shown = page();
  shown.source.start();
  shown.socket().onopen?.();
  shown.pass(10_250);
  expect(shown.sockets).toHaveLength(2);
  expect(shown.sockets[0]?.isClosed).toBe(true);
  expect(shown.sockets[0]?.onmessage).toBeNull();
});

test('[M-4] a line that falls behind begins anew with fewer bits, down to a floor', () => {
  const shown = live();
  const rates: number[] = [];
  for (let n = 0; n < 8; n++) {
    rates.push(shown.recorder().options.videoBitsPerSecond);
    shown.socket().bufferedAmount = 3_000_000;
    shown.recorder().ondataavailable?.({ data: new Blob(['x']) });
    expect(shown.state()).toEqual({ state: 'reconnecting' });
    shown.pass(4_000);
    shown.goLive();
    shown.pass(10_000);
  }
  expect(rates[0]).toBe(4_000_000);
  expect(rates[1]).toBe(2_400_000);
  expect(rates.at(-1)).toBe(400_000);
});

test('[M-4] what the service says of its speed is shown', () => {
  const shown = live();
  shown.socket().says({ state: 'slow' });
  expect(shown.state()).toEqual({ state: 'live', isSlow: true });
  shown.socket().says({ state: 'live' });
  expect(shown.state()).toEqual({ state: 'live', isSlow: false });
  shown.socket().onmessage?.({ data: 'not JSON' });
  shown.socket().onmessage?.({ data: 'null' });
  expect(shown.recorders).toHaveLength(1);
});

test('[M-4] it stops when told, or when the camera is gone, and says no more', () => {
  const stopped = live();
  stopped.source.stop();
  expect(stopped.state()).toEqual({ state: 'stopped', reason: 'It was stopped here.' });
  expect(stopped.recorder().isStopped).toBe(true);
  expect(stopped.socket().isClosed).toBe(true);
  expect(stopped.timers.size).toBe(0);
  stopped.source.stop();
  stopped.source.start();
  expect(stopped.states).toHaveLength(3);

  const gone = live();
  gone.recorder().onstop?.();
  expect(gone.state()).toEqual({ state: 'stopped', reason: 'The camera or microphone is gone.' });
});

test('[M-4] a recorder that fails is replaced, one that cannot be made ends it', () => {
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
        // biome-ignore lint/correctness/noConstructorReturn: a constructor that hands over a fake
        return socket;
      }
    },
  });
  const onState = (state: BrowserSourceState) => void states.push(state);
  new BrowserSource({ stream: '', url: '', key: '', onState, browser }).start();
  socket.says({ state: 'live' });
  expect(states.at(-1)).toEqual({ state: 'stopped', reason: 'This cannot be recorded: no tracks' });
});
