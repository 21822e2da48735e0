import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { FakeSession } from '../../test/support/media/fake-ingest.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../platform/runtime.ts';
import { InputQueue, QueuedSession } from './input-queue.ts';

const PIECE_BYTES = 64 << 10;
const PIECE_MS = 2;
/** Pieces of a turn: the eighth one ends after 15 ms. */
const TURN_PIECES = 8;

let nowMs = 0;
let immediates: (() => void)[] = [];
/** The stream of each piece, in the order of the writes. */
let written: string[] = [];
let queue = new InputQueue();

/** A session whose packager takes 2 ms for a piece. */
class BusySession extends FakeSession {
  constructor(
    streamId: string,
    override readonly producer: string,
  ) {
    super(streamId, { key: '', kind: 'websocket', container: 'mpegts', address: '' });
  }

  override write(bytes: Uint8Array): boolean {
    expect(bytes.length).toBeLessThanOrEqual(PIECE_BYTES);
    nowMs += PIECE_MS;
    written.push(this.streamId);
    return super.write(bytes);
  }
}

beforeAll(() =>
  replaceRuntime({
    ...SYSTEM_RUNTIME,
    monotonicMs: () => nowMs,
    setImmediate: (run) => void immediates.push(run),
  }),
);
afterAll(() => replaceRuntime(SYSTEM_RUNTIME));
beforeEach(() => {
  immediates = [];
  queue = new InputQueue();
});

function source(streamId: string, account: string) {
  const session = new BusySession(streamId, account);
  return { session, queued: new QueuedSession(session, queue) };
}

const input = (pieces: number) => crypto.getRandomValues(Buffer.alloc(pieces * PIECE_BYTES - 7));

/** @returns the streams of the pieces that the turn wrote */
function piecesOf(turn: () => void): string[] {
  written = [];
  turn();
  return written;
}

const nextTurn = () =>
  piecesOf(() => {
    for (const run of immediates.splice(0)) run();
  });

test('[M-16] sources together parse 15 ms in a turn, and the rest in order in later turns', () => {
  const sources = ['a', 'b', 'c'].map((stream) => source(stream, 'one account'));
  const messages = sources.map(() => [input(5), input(1), input(4)]);
  const turns = [
    piecesOf(() => {
      sources.forEach(({ queued }, index) => {
        const results = messages[index]?.map((message) => queued.write(message));
        if (index > 0) expect(results).toEqual([false, false, false]);
      });
    }),
  ];
  while (immediates.length > 0) turns.push(nextTurn());
  expect(turns.map(({ length }) => length)).toEqual([8, 8, 8, 8, 2, 0]);
  sources.forEach(({ session }, index) => {
    expect(Buffer.from(session.content()).equals(Buffer.concat(messages[index] ?? []))).toBe(true);
  });
});

test('[M-16] input is parsed at once while no source waits', () => {
  const { session, queued } = source('a', 'one account');
  const pieces = piecesOf(() => expect(queued.write(input(4))).toBe(true));
  expect(pieces).toHaveLength(4);
  session.acceptsMore = false;
  expect(queued.write(input(1))).toBe(false);
});

test('[M-16] accounts take turns while input of sources waits', () => {
  for (const stream of ['a', 'b', 'c']) source(stream, 'first account').queued.write(input(50));
  source('d', 'second account').queued.write(input(3));
  expect(nextTurn().join('')).toBe('adbdcdab');
});

test('[M-16] a source with small messages does not wait for a turn for each of them', () => {
  const busy = source('a', 'first account');
  const small = source('b', 'second account');
  busy.queued.write(input(200));
  for (let n = 0; n < 100; n++) small.queued.write(Buffer.alloc(300));
  nextTurn();
  nextTurn();
  expect(small.session.bytes).toBe(100 * 300);
});

test('[M-4] a source whose input waits is paused until it is parsed and the encoder accepts more', async () => {
  const { session, queued } = source('a', 'one account');
  expect(queued.write(input(TURN_PIECES + 1))).toBe(false);
  let isDrained = false;
  const drained = queued.drained().then(() => {
    isDrained = true;
  });
  await Bun.sleep(0);
  expect(isDrained).toBe(false);
  session.acceptsMore = false;
  expect(nextTurn()).toHaveLength(1);
  await Bun.sleep(0);
  expect(isDrained).toBe(false);
  session.drain();
  await drained;
});

test('[M-4] a source that leaves ends after its waiting input', async () => {
  const { session, queued } = source('a', 'one account');
  const message = input(TURN_PIECES + 2);
  queued.write(message);
  queued.end('the sender left');
  expect(session.endReason).toBeNull();
  expect(nextTurn()).toHaveLength(2);
  expect(await session.waitForEnd()).toBe('the sender left');
  expect(Buffer.from(session.content()).equals(message)).toBe(true);
});

test('[M-16] a source that the service ended writes nothing more, and others go on', async () => {
  const ended = source('a', 'one account');
  const other = source('b', 'one account');
  ended.queued.write(input(TURN_PIECES * 3));
  other.queued.write(input(3));
  const drained = ended.queued.drained();
  ended.session.close('Another source has taken over the stream.', 'replaced');
  ended.session.drain();
  await drained;
  expect(nextTurn()).toEqual(['b', 'b', 'b']);
  ended.queued.end('late');
  expect(ended.session.endReason).toBe('late');
  expect(nextTurn()).toEqual([]);
});
