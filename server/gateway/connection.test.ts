import { describe, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { createOpenFiles } from '../platform/open-files.ts';
import { Connection, type ConnectionContext, type PendingResponse } from './connection.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { FALLBACK, NEED_MORE } from './request-head.ts';
import type { ResponseBytes } from './response-bytes.ts';
import { UnsentResponses } from './unsent-responses.ts';
import { ViewerFastPath } from './viewer-fast-path.ts';

/** What a relayed response of these tests has in the origin server. */
const REST_BYTES = 50_000;

/** A fake socket that takes `roomBytes` bytes and no more. */
function fakeSocket(roomBytes = Number.POSITIVE_INFINITY) {
  const sent: string[] = [];
  const calls: string[] = [];
  const socket = {
    roomBytes,
    remoteAddress: '192.0.2.7',
    write(bytes: Uint8Array) {
      const taken = Math.min(bytes.length, this.roomBytes);
      this.roomBytes -= taken;
      if (taken > 0) sent.push(Buffer.from(bytes.subarray(0, taken)).toString());
      return taken;
    },
    shutdown: () => void calls.push('shutdown'),
    terminate: () => void calls.push('terminate'),
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
  };
  return { socket, calls, sent: () => sent.join('') };
}

/**
 * A connection with a handler whose requests are lines: it responds to `now x` at once with `x;`, calls
 * `setPending` for `later`, falls back for `?`, throws for `break`, and needs more of a partial line.
 */
function fixture(roomBytes?: number, unsent = new UnsentResponses()) {
  const { socket, calls, sent } = fakeSocket(roomBytes);
  const relayed: string[] = [];
  const failures: string[] = [];
  let relay: { client: Connection; closed: boolean } | null = null;
  const pending: PendingResponse & { closes: number } = {
    closes: 0,
    onClose: () => void pending.closes++,
  };
  const context: { -readonly [Name in keyof ConnectionContext]: ConnectionContext[Name] } = {
    tick: 0,
    drainTick: null,
    requests: {
      handle(connection, bytes, at) {
        const end = bytes.indexOf('\n', at);
        if (end < 0) return NEED_MORE;
        const line = bytes.toString('latin1', at, end);
        if (line.startsWith('?')) return FALLBACK;
        if (line === 'break') throw new Error('a defect');
        if (line === 'later') connection.setPending(pending);
        else connection.respond(Buffer.from(`${line.slice(4)};`));
        return end + 1;
      },
    },
    onDefect: ({ message }) => void failures.push(message),
    openFiles: createOpenFiles(),
    unsent,
    relay: {
      start(client, bytes) {
        const active = { client: client as Connection, closed: false };
        relay = active;
        relayed.push(Buffer.from(bytes).toString());
        return {
          onData: (more) => void relayed.push(Buffer.from(more).toString()),
          onDrain: () => void relayed.push('(drained)'),
          onClose: () => {
            active.closed = true;
          },
          restBytes: REST_BYTES,
        };
      },
    },
  };
  const connection = new Connection(socket as unknown as Socket<Connection>, context);
  return {
    connection,
    context,
    socket,
    pending,
    calls,
    sent,
    relayed,
    failures,
    relay: () => relay,
    receive: (text: string) => connection.onData(Buffer.from(text)),
    /** The client reads: the socket takes this many bytes more. */
    takeMore(bytes: number) {
      socket.roomBytes = bytes;
      connection.onDrain();
    },
    /** Whether the connection will have timed out after this many more seconds. */
    isTimedOutIn: (seconds: number) => connection.isTimedOut(context.tick + seconds),
  };
}

describe('a connection', () => {
  test('[I-3] ends when its handler throws, without an error for the caller of respond', () => {
    const { connection, receive, calls, failures } = fixture();
    receive('later\nbreak\n');
    expect(() => connection.respond(Buffer.from('late;'))).not.toThrow();
    expect([failures, calls]).toEqual([['a defect'], ['terminate']]);
  });

  test('handles requests in order, however their bytes are split', () => {
    const text = 'now one\nnow two\nnow three\n';
    for (let cut = 1; cut < text.length; cut++) {
      const { receive, sent } = fixture();
      receive(text.slice(0, cut));
      receive(text.slice(cut));
      expect(sent()).toBe('one;two;three;');
    }
  });

  test('buffers requests behind a pending response', () => {
    const { receive, sent, connection } = fixture();
    receive('now one\nlater\nnow two\nno');
    receive('w three\n');
    expect(sent()).toBe('one;');
    connection.respond(Buffer.from('late;'));
    expect(sent()).toBe('one;late;two;three;');
  });

  test('[G-31] stops reading behind a pending response after 16 KB, and ends with that response', () => {
    const { receive, sent, calls, connection } = fixture();
    receive('later\n');
    receive('now x\n'.repeat(2_730)); // 16,380 bytes, and 3 more fit into 16,384.
    receive('now');
    expect(calls).toEqual([]);
    receive(' y\n');
    expect(calls).toEqual(['pause']);
    receive('now z\n');
    connection.respond(Buffer.from('late;'));
    expect([sent(), calls]).toEqual(['late;', ['pause', 'resume', 'shutdown']]);
  });

  test('[G-31] ends with a pending response when more than 16 KB arrive together with its request', () => {
    const { receive, sent, calls, connection } = fixture();
    receive(`now one\nlater\n${'now x\n'.repeat(2_731)}`);
    expect(calls).toEqual(['pause']);
    connection.respond(Buffer.from('late;'));
    expect([sent(), calls]).toEqual(['one;late;', ['pause', 'resume', 'shutdown']]);
  });

  test('[G-31] handles any number of requests while no response is pending', () => {
    const { receive, sent, calls } = fixture();
    receive('now x\n'.repeat(100_000));
    expect([sent(), calls]).toEqual(['x;'.repeat(100_000), []]);
  });

  test('[G-31] applies the 16 KB limit to a pending request that is relayed later', () => {
    const { receive, relayed, relay, calls, connection } = fixture();
    receive(`later\n${'now x\n'.repeat(2_731)}`);
    connection.relay(Buffer.from('later\n'));
    receive('more');
    expect(relayed).toEqual(['later\n']);
    relay()?.client.completed(Buffer.from(''));
    expect(calls).toEqual(['pause', 'resume', 'shutdown']);
  });

  test('copies an incomplete head out of a large receive buffer', () => {
    const { connection } = fixture();
    const bytes = Buffer.concat([Buffer.from('now x\n'.repeat(80_000)), Buffer.from('no')]);
    connection.onData(bytes);
    const { buffered } = (connection as unknown as { state: { buffered: Buffer } }).state;
    expect([buffered.toString(), buffered.buffer.byteLength]).toEqual(['no', 2]);
  });
});

/** The bytes that all calls of `Buffer.indexOf` search while a function runs. */
function searchedBytesOf(run: () => void): number {
  const { indexOf } = Buffer.prototype;
  let searched = 0;
  Buffer.prototype.indexOf = function (this: Buffer, wanted: string | number, from = 0) {
    const found = indexOf.call(this, wanted, from as number);
    searched += (found < 0 ? this.length : found) - Number(from);
    return found;
  };
  try {
    run();
  } finally {
    Buffer.prototype.indexOf = indexOf;
  }
  return searched;
}

describe('an incomplete head', () => {
  test.each([
    ['of an answer', 'POST /api/v1/quizzes/1/answer', {}],
    ['of an answer without a fast path', 'POST /api/v1/quizzes/1/answer', null],
    ['of any other request', 'GET /', {}],
  ])('[G-31] %s is searched once, however its bytes are split', (_, request, quizzes) => {
    const { context, receive, relayed } = fixture();
    const backend = { feed: null, quizzes } as GatewayBackend;
    context.requests = new ViewerFastPath(backend, {} as ResponseBytes);
    const lines = `${request} HTTP/1.1\r\n${'a\r\n'.repeat(4_000)}`;
    const bytes = 'b'.repeat(1_000);
    const searched = searchedBytesOf(() => {
      receive(lines);
      for (const byte of bytes) receive(byte);
    });
    // For the end of the head and for that of each line, with up to three bytes before the new ones.
    expect(searched).toBeLessThan(2 * (lines.length + bytes.length) + 3 * bytes.length);
    receive('\r\n\r');
    expect(relayed).toEqual([]);
    receive('\n');
    expect(relayed).toEqual([`${lines}${bytes}\r\n\r\n`]);
  });
});

describe('an empty line before a request', () => {
  test('[G-31] is ignored, however the bytes are split', () => {
    const text = '\r\nnow one\n\r\nnow two\n\r\n?three\n';
    for (let cut = 1; cut < text.length; cut++) {
      const { receive, sent, relayed } = fixture();
      receive(text.slice(0, cut));
      receive(text.slice(cut));
      expect([sent(), relayed.join('')]).toEqual(['one;two;', '?three\n']);
    }
  });

  test('[G-31] is ignored once: a second one goes to the handler', () => {
    const { receive, sent } = fixture();
    receive('\r\n');
    expect(sent()).toBe('');
    receive('\r\nnow x\n');
    expect(sent()).toBe(';x;');
  });

  test('[G-31] does not extend the idle timeout', () => {
    const { receive, context, isTimedOutIn } = fixture();
    context.tick = 10;
    receive('\r');
    receive('\n');
    expect([isTimedOutIn(2), isTimedOutIn(3)]).toEqual([false, true]);
  });
});

describe('a connection whose client reads slowly', () => {
  test('sends each response completely before it handles the next request', () => {
    const { receive, sent, takeMore } = fixture(2);
    receive('now one\nnow two\n');
    expect(sent()).toBe('on');
    takeMore(1);
    expect(sent()).toBe('one');
    takeMore(100);
    expect(sent()).toBe('one;two;');
  });

  test('[L-3] times out after 30 s in which the client read less than 16 KB and not all', () => {
    const { receive, takeMore, context, isTimedOutIn } = fixture(2);
    receive(`now ${'x'.repeat(40_000)}\n`);
    expect([isTimedOutIn(30), isTimedOutIn(31)]).toEqual([false, true]);
    context.tick = 20;
    takeMore(16_383);
    expect([isTimedOutIn(10), isTimedOutIn(11)]).toEqual([false, true]);
    takeMore(1);
    expect([isTimedOutIn(30), isTimedOutIn(31)]).toEqual([false, true]);
    context.tick = 40;
    takeMore(16_000);
    expect([isTimedOutIn(10), isTimedOutIn(11)]).toEqual([false, true]);
    takeMore(10_000);
    expect([isTimedOutIn(12), isTimedOutIn(13)]).toEqual([false, true]);
  });

  test('calls onDrain when all bytes are written', () => {
    const { receive, connection, pending, takeMore } = fixture(3);
    let drained = 0;
    pending.onDrain = () => void drained++;
    receive('later\n');
    expect(connection.send(Buffer.from('abc'))).toBe(true);
    expect(connection.send(Buffer.from('def'))).toBe(false);
    connection.send(Buffer.from('ghi'));
    expect(connection.unsentBytes()).toBe(6);
    takeMore(5);
    expect([connection.unsentBytes(), drained]).toEqual([1, 0]);
    takeMore(5);
    expect([connection.unsentBytes(), drained]).toEqual([0, 1]);
  });
});

describe('the unsent bytes of connections', () => {
  const large = (length: number) => Buffer.from(new ArrayBuffer(length));
  const [WRITTEN_BYTES, BYTES] = [2, 100_000];

  test('[L-3] count until they are sent or the client disconnects', () => {
    const unsent = new UnsentResponses();
    const [sent, closed] = [fixture(WRITTEN_BYTES, unsent), fixture(WRITTEN_BYTES, unsent)];
    for (const { connection } of [sent, closed]) connection.respond(large(BYTES));
    expect(unsent.bytes).toBe(2 * BYTES);
    sent.takeMore(BYTES / 2);
    expect(unsent.bytes).toBe(2 * BYTES);
    sent.takeMore(BYTES);
    closed.connection.onClose();
    expect(unsent.bytes).toBe(0);
  });

  test('[L-3] of a relayed response count with its rest in the origin server until it is complete', () => {
    const unsent = new UnsentResponses();
    const { receive, relay, takeMore } = fixture(WRITTEN_BYTES, unsent);
    receive('?x\n');
    const { client } = relay() as { client: Connection };
    client.send(large(BYTES));
    expect(unsent.bytes).toBe(BYTES + REST_BYTES);
    client.send(large(BYTES));
    expect(unsent.bytes).toBe(2 * BYTES + REST_BYTES);
    client.completed(Buffer.from(''));
    expect(unsent.bytes).toBe(2 * BYTES);
    takeMore(2 * BYTES);
    expect(unsent.bytes).toBe(0);
  });

  test('[F-25] of an event stream do not count while it has its own limits', () => {
    const unsent = new UnsentResponses();
    const { receive, connection, pending, takeMore } = fixture(WRITTEN_BYTES, unsent);
    receive('later\n');
    connection.setPending({ ...pending, isBounded: true });
    connection.send(large(BYTES));
    takeMore(1);
    expect(unsent.bytes).toBe(0);
    connection.finish();
    expect(unsent.bytes).toBe(BYTES);
  });

  test('[L-3] above the limit close the connection that has had some for longest', () => {
    const unsent = new UnsentResponses(3 * BYTES);
    const create = () => fixture(WRITTEN_BYTES, unsent);
    const [first, second, third, last] = [create(), create(), create(), create()];
    const connections = [first, second, third, last];
    for (const { connection } of [first, second, third]) connection.respond(large(BYTES));
    first.takeMore(BYTES);
    first.connection.respond(large(BYTES));
    expect(connections.flatMap(({ calls }) => calls)).toEqual([]);
    last.connection.respond(large(BYTES / 2));
    expect(connections.map(({ calls }) => calls)).toEqual([[], ['terminate'], [], []]);
  });
});

describe('a connection without unsent bytes times out', () => {
  test('[L-3] 12 s after its last response, and not while a response is pending', () => {
    const { receive, context, connection, isTimedOutIn } = fixture();
    expect([isTimedOutIn(12), isTimedOutIn(13)]).toEqual([false, true]);
    context.tick = 10;
    receive('later\n');
    expect(isTimedOutIn(1_000)).toBe(false);
    context.tick = 100;
    connection.respond(Buffer.from('late;'));
    expect([isTimedOutIn(12), isTimedOutIn(13)]).toEqual([false, true]);
  });

  test('[L-3] 12 s after its start or its last request, however slowly the next one arrives', () => {
    const { receive, context, isTimedOutIn } = fixture();
    context.tick = 11;
    receive('n');
    context.tick = 12;
    receive('o');
    expect([isTimedOutIn(0), isTimedOutIn(1)]).toEqual([false, true]);
    receive('w x\n');
    expect([isTimedOutIn(12), isTimedOutIn(13)]).toEqual([false, true]);
    context.tick = 23;
    receive('n');
    expect([isTimedOutIn(1), isTimedOutIn(2)]).toEqual([false, true]);
  });
});

describe('a relayed connection', () => {
  test('passes all bytes to the relay until the response is complete', () => {
    const { receive, sent, relayed, relay } = fixture();
    receive('now one\n?x\nnow two\n');
    receive('more');
    expect(relayed).toEqual(['?x\nnow two\n', 'more']);
    const { client } = relay() as { client: Connection };
    expect(client.address).toBe('192.0.2.7');
    client.send(Buffer.from('origin;'));
    client.completed(Buffer.from('now three\n'));
    expect(sent()).toBe('one;origin;three;');
    receive('now four\n');
    expect(sent()).toBe('one;origin;three;four;');
  });

  test('passes a pending request to the relay with the bytes behind it', () => {
    const { receive, connection, relayed } = fixture();
    receive('later\nnow two\n');
    connection.relay(Buffer.from('later\n'));
    expect(relayed).toEqual(['later\nnow two\n']);
  });

  test('reports the disconnect of its client to the relay once', () => {
    const { receive, connection, relay } = fixture();
    receive('?x\n');
    connection.onClose();
    expect(relay()?.closed).toBe(true);
    connection.send(Buffer.from('nobody'));
    connection.respond(Buffer.from('nobody'));
    expect(connection.hasPending).toBe(false);
  });
});

describe('a connection that ends', () => {
  test('sends buffered bytes, discards received ones, and times out after 2 s', () => {
    const { receive, sent, takeMore, calls, connection, isTimedOutIn } = fixture(2);
    receive('?x\n');
    connection.send(Buffer.from('done'));
    connection.end();
    expect([sent(), calls]).toEqual(['do', []]);
    takeMore(100);
    expect([sent(), calls]).toEqual(['done', ['shutdown']]);
    receive('now more\n');
    expect(sent()).toBe('done');
    expect([isTimedOutIn(2), isTimedOutIn(3)]).toEqual([false, true]);
  });

  test('[O-11] ends after its pending response while the gateway drains', () => {
    const { receive, sent, calls, connection, context } = fixture();
    receive('later\n');
    context.drainTick = context.tick;
    connection.respond(Buffer.from('late;'));
    expect([sent(), calls]).toEqual(['late;', ['shutdown']]);
  });

  test('[O-11] times out 3 s after the drain began when its client does not read the response', () => {
    const { receive, connection, pending, context, takeMore, isTimedOutIn } = fixture(2);
    receive('later\n');
    connection.send(Buffer.from('much'));
    context.tick = 5;
    context.drainTick = 5;
    connection.finish();
    expect([isTimedOutIn(3), isTimedOutIn(4)]).toEqual([false, true]);
    takeMore(1);
    expect([isTimedOutIn(3), isTimedOutIn(4)]).toEqual([false, true]);
    takeMore(1);
    expect([connection.hasPending, pending.closes]).toEqual([false, 0]);
  });

  test('[O-11] does not time out in a drain while its response is pending', () => {
    const { receive, context, isTimedOutIn } = fixture();
    receive('later\n');
    context.drainTick = 0;
    expect(isTimedOutIn(1_000)).toBe(false);
  });

  test('calls onClose of its pending response once', () => {
    const { receive, connection, pending } = fixture();
    receive('later\nrest');
    connection.onClose();
    connection.onClose();
    expect(pending.closes).toBe(1);
  });
});
