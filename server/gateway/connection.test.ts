import { describe, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { Connection, type PendingResponse, type RequestHandler } from './connection.ts';
import { FALLBACK, NEED_MORE } from './request-parser.ts';

/** A client that takes so many bytes at once as a test lets it. */
function client(room = Number.POSITIVE_INFINITY) {
  const heard: string[] = [];
  const calls: string[] = [];
  const socket = {
    room,
    remoteAddress: '192.0.2.7',
    write(bytes: Uint8Array) {
      const taken = Math.min(bytes.length, this.room);
      this.room -= taken;
      if (taken > 0) heard.push(Buffer.from(bytes.subarray(0, taken)).toString());
      return taken;
    },
    shutdown: () => void calls.push('shutdown'),
    terminate: () => void calls.push('terminate'),
    pause: () => void calls.push('pause'),
    resume: () => void calls.push('resume'),
  };
  return { socket, calls, heard: () => heard.join('') };
}

/**
 * A desk where requests are lines: `now x` is answered at once with `x`, `later` begins the task, `?` is
 * relayed, and a line without an end is a part of one.
 */
function fixture(room?: number) {
  const { socket, calls, heard } = client(room);
  const relayed: string[] = [];
  const failures: string[] = [];
  let relay: { client: Connection; closed: boolean } | null = null;
  const task: PendingResponse & { closes: number } = {
    closes: 0,
    onClose: () => void task.closes++,
  };
  const desk: { -readonly [Name in keyof RequestHandler]: RequestHandler[Name] } = {
    tick: 0,
    drainTick: null,
    handle(connection, bytes, at) {
      const end = bytes.indexOf('\n', at);
      if (end < 0) return NEED_MORE;
      const line = bytes.toString('latin1', at, end);
      if (line.startsWith('?')) return FALLBACK;
      if (line === 'break') throw new Error('a defect');
      if (line === 'later') connection.setPending(task);
      else connection.respond(Buffer.from(`${line.slice(4)};`));
      return end + 1;
    },
    onDefect: ({ message }) => void failures.push(message),
    relay(client, bytes) {
      const own = { client: client as Connection, closed: false };
      relay = own;
      relayed.push(Buffer.from(bytes).toString());
      return {
        onData: (more) => void relayed.push(Buffer.from(more).toString()),
        onDrain: () => void relayed.push('(drained)'),
        onClose: () => {
          own.closed = true;
        },
      };
    },
  };
  const connection = new Connection(socket as unknown as Socket<Connection>, desk);
  return {
    connection,
    desk,
    socket,
    task,
    calls,
    heard,
    relayed,
    failures,
    relay: () => relay,
    say: (text: string) => connection.onData(Buffer.from(text)),
    room(bytes: number) {
      socket.room = bytes;
      connection.onDrain();
    },
    /** Whether it would be cut, so many seconds from now. */
    isCutIn: (seconds: number) => connection.isTimedOut(desk.tick + seconds),
  };
}

describe('requests of one connection', () => {
  test('[I-3] that meet a defect end it, and whoever answers it goes on to the next', () => {
    const { connection, say, calls, failures } = fixture();
    say('later\nbreak\n');
    expect(() => connection.respond(Buffer.from('late;'))).not.toThrow();
    expect([failures, calls]).toEqual([['a defect'], ['terminate']]);
  });

  test('are answered in their order, however their bytes are cut', () => {
    const text = 'now one\nnow two\nnow three\n';
    for (let cut = 1; cut < text.length; cut++) {
      const { say, heard } = fixture();
      say(text.slice(0, cut));
      say(text.slice(cut));
      expect(heard()).toBe('one;two;three;');
    }
  });

  test('wait for one whose answer takes a moment', () => {
    const { say, heard, connection } = fixture();
    say('now one\nlater\nnow two\nno');
    say('w three\n');
    expect(heard()).toBe('one;');
    connection.respond(Buffer.from('late;'));
    expect(heard()).toBe('one;late;two;three;');
  });

  test('[G-31] of which more than 16 KB wait are not kept: their connection is read no further, and ends with the answer', () => {
    const { say, heard, calls, connection } = fixture();
    say('later\n');
    say('now x\n'.repeat(2_730));
    say('now');
    expect(calls).toEqual([]);
    say(' y\n');
    expect(calls).toEqual(['pause']);
    say('now z\n');
    connection.respond(Buffer.from('late;'));
    expect([heard(), calls]).toEqual(['late;', ['pause', 'resume', 'shutdown']]);
  });

  test('[G-31] of which more than 16 KB come at once with one that waits are not kept either', () => {
    const { say, heard, calls, connection } = fixture();
    say(`now one\nlater\n${'now x\n'.repeat(2_731)}`);
    expect(calls).toEqual(['pause']);
    connection.respond(Buffer.from('late;'));
    expect([heard(), calls]).toEqual(['one;late;', ['pause', 'resume', 'shutdown']]);
  });

  test('[G-31] however much of them come are answered while none waits', () => {
    const { say, heard, calls } = fixture();
    say('now x\n'.repeat(100_000));
    expect([heard(), calls]).toEqual(['x;'.repeat(100_000), []]);
  });

  test('[G-31] wait for one that is passed on in the end', () => {
    const { say, relayed, relay, calls, connection } = fixture();
    say(`later\n${'now x\n'.repeat(2_731)}`);
    connection.relay(Buffer.from('later\n'));
    say('more');
    expect(relayed).toEqual(['later\n']);
    relay()?.client.completed(Buffer.from(''));
    expect(calls).toEqual(['pause', 'resume', 'shutdown']);
  });

  test('keep no more memory than they are long', () => {
    const { connection } = fixture();
    const bytes = Buffer.concat([Buffer.from('now x\n'.repeat(80_000)), Buffer.from('no')]);
    connection.onData(bytes);
    const { buffered } = (connection as unknown as { state: { buffered: Buffer } }).state;
    expect([buffered.toString(), buffered.buffer.byteLength]).toEqual(['no', 2]);
  });
});

describe('[G-31] an empty line before a request', () => {
  test('means nothing, however it is cut', () => {
    const text = '\r\nnow one\n\r\nnow two\n\r\n?three\n';
    for (let cut = 1; cut < text.length; cut++) {
      const { say, heard, relayed } = fixture();
      say(text.slice(0, cut));
      say(text.slice(cut));
      expect([heard(), relayed.join('')]).toEqual(['one;two;', '?three\n']);
    }
  });

  test('is one: a second one is for the desk to judge', () => {
    const { say, heard } = fixture();
    say('\r\n');
    expect(heard()).toBe('');
    say('\r\nnow x\n');
    expect(heard()).toBe(';x;');
  });

  test('gives no more time', () => {
    const { say, desk, isCutIn } = fixture();
    desk.tick = 10;
    say('\r');
    say('\n');
    expect([isCutIn(2), isCutIn(3)]).toEqual([false, true]);
  });
});

describe('a client that takes its answers slowly', () => {
  test('gets all of them, and the next request waits for that', () => {
    const { say, heard, room } = fixture(2);
    say('now one\nnow two\n');
    expect(heard()).toBe('on');
    room(1);
    expect(heard()).toBe('one');
    room(100);
    expect(heard()).toBe('one;two;');
  });

  test('[L-3] is cut after 30 s in which it took nothing', () => {
    const { say, room, desk, isCutIn } = fixture(2);
    say('now one\n');
    expect([isCutIn(30), isCutIn(31)]).toEqual([false, true]);
    desk.tick = 20;
    room(1);
    expect([isCutIn(30), isCutIn(31)]).toEqual([false, true]);
    room(100);
    expect([isCutIn(12), isCutIn(13)]).toEqual([false, true]);
  });

  test('is told when a stream may go on', () => {
    const { say, connection, task, room } = fixture(3);
    let drained = 0;
    task.onDrain = () => void drained++;
    say('later\n');
    expect([connection.send(Buffer.from('abc')), connection.send(Buffer.from('def'))]).toEqual([
      true,
      false,
    ]);
    connection.send(Buffer.from('ghi'));
    expect(connection.unsentBytes()).toBe(6);
    room(5);
    expect([connection.unsentBytes(), drained]).toEqual([1, 0]);
    room(5);
    expect([connection.unsentBytes(), drained]).toEqual([0, 1]);
  });
});

describe('[L-3] a connection is cut', () => {
  test('12 s after its last answer, and not while one is awaited', () => {
    const { say, desk, connection, isCutIn } = fixture();
    expect([isCutIn(12), isCutIn(13)]).toEqual([false, true]);
    desk.tick = 10;
    say('later\n');
    expect(isCutIn(1_000)).toBe(false);
    desk.tick = 100;
    connection.respond(Buffer.from('late;'));
    expect([isCutIn(12), isCutIn(13)]).toEqual([false, true]);
  });

  test('12 s after its begin or its last request, however the next one drips', () => {
    const { say, desk, isCutIn } = fixture();
    desk.tick = 11;
    say('n');
    desk.tick = 12;
    say('o');
    expect([isCutIn(0), isCutIn(1)]).toEqual([false, true]);
    say('w x\n');
    expect([isCutIn(12), isCutIn(13)]).toEqual([false, true]);
    desk.tick = 23;
    say('n');
    expect([isCutIn(1), isCutIn(2)]).toEqual([false, true]);
  });
});

describe('what is relayed', () => {
  test('is all from its request on, until its answer is complete', () => {
    const { say, heard, relayed, relay } = fixture();
    say('now one\n?x\nnow two\n');
    say('more');
    expect(relayed).toEqual(['?x\nnow two\n', 'more']);
    const { client } = relay() as { client: Connection };
    expect(client.address).toBe('192.0.2.7');
    client.send(Buffer.from('inner;'));
    client.completed(Buffer.from('now three\n'));
    expect(heard()).toBe('one;inner;three;');
    say('now four\n');
    expect(heard()).toBe('one;inner;three;four;');
  });

  test('can be a request that was begun here, with what came behind it', () => {
    const { say, connection, relayed } = fixture();
    say('later\nnow two\n');
    connection.relay(Buffer.from('later\n'));
    expect(relayed).toEqual(['later\nnow two\n']);
  });

  test('hears that its client left, once', () => {
    const { say, connection, relay } = fixture();
    say('?x\n');
    connection.onClose();
    expect(relay()?.closed).toBe(true);
    connection.send(Buffer.from('nobody'));
    connection.respond(Buffer.from('nobody'));
    expect(connection.hasPending).toBe(false);
  });
});

describe('a connection that ends', () => {
  test('does so behind what was sent, throws away what still comes, and is cut 2 s later', () => {
    const { say, heard, room, calls, connection, isCutIn } = fixture(2);
    say('?x\n');
    connection.send(Buffer.from('done'));
    connection.end();
    expect([heard(), calls]).toEqual(['do', []]);
    room(100);
    expect([heard(), calls]).toEqual(['done', ['shutdown']]);
    say('now more\n');
    expect(heard()).toBe('done');
    expect([isCutIn(2), isCutIn(3)]).toEqual([false, true]);
  });

  test('[O-11] ends with its answer when the front takes no more requests', () => {
    const { say, heard, calls, connection, desk } = fixture();
    say('later\n');
    desk.drainTick = desk.tick;
    connection.respond(Buffer.from('late;'));
    expect([heard(), calls]).toEqual(['late;', ['shutdown']]);
  });

  test('[O-11] is cut when its client has not taken the answer 3 s after the front closed', () => {
    const { say, connection, task, desk, room, isCutIn } = fixture(2);
    say('later\n');
    connection.send(Buffer.from('much'));
    desk.tick = 5;
    desk.drainTick = 5;
    connection.finish();
    expect([isCutIn(3), isCutIn(4)]).toEqual([false, true]);
    room(1);
    expect([isCutIn(3), isCutIn(4)]).toEqual([false, true]);
    room(1);
    expect([connection.hasPending, task.closes]).toEqual([false, 0]);
  });

  test('[O-11] is not cut while its answer is not made', () => {
    const { say, desk, isCutIn } = fixture();
    say('later\n');
    desk.drainTick = 0;
    expect(isCutIn(1_000)).toBe(false);
  });

  test('tells what it was busy with', () => {
    const { say, connection, task } = fixture();
    say('later\nrest');
    connection.onClose();
    connection.onClose();
    expect(task.closes).toBe(1);
  });
});
