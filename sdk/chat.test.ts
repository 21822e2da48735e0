import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import type { ChatPost } from './calls.ts';
import { Hearts, withLines } from './chat.ts';
import { FourbeatError } from './errors.ts';
import type { ChatLine, Chats } from './types.ts';
import { CancellableTimers } from './waits.ts';

const none: Chats = {
  messages: [],
  questions: [],
  greetings: [],
  cheers: [],
  purchases: [],
  hearts: 0,
  discounts: 0,
};

function line(text: string, at: number): ChatLine {
  return { id: `${at}`, viewer: 'somebody', name: 'Ada', text, at };
}

describe('lines', () => {
  test('of all kinds are in the order they were written', () => {
    const first = withLines([], { ...none, messages: [line('b', 2), line('d', 4)] });
    const all = withLines(first, {
      ...none,
      purchases: [line('g', 7)],
      cheers: [line('e', 5)],
      questions: [line('f', 6)],
      greetings: [line('h', 8)],
    });
    expect(all.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'message b',
      'message d',
      'cheer e',
      'question f',
      'purchase g',
      'greeting h',
    ]);
  });

  test('are the newest 100', () => {
    let lines = withLines([], none);
    for (let at = 0; at < 150; at++) lines = withLines(lines, { ...none, cheers: [line('x', at)] });
    expect(lines).toHaveLength(100);
    expect([lines[0]?.at, lines.at(-1)?.at]).toEqual([50, 149]);
  });

  test('are the same when none came', () => {
    const lines = withLines([], { ...none, messages: [line('a', 1)] });
    expect(withLines(lines, { ...none, hearts: 3 })).toBe(lines);
  });
});

describe('hearts', () => {
  function sending(reply: (nth: number) => FourbeatError | null = () => null) {
    const machine = new FakeMachine();
    const startMs = machine.nowMs;
    const posts: { readonly atMs: number; readonly post: ChatPost }[] = [];
    const waits = new CancellableTimers(machine.environment);
    const chat = async (post: ChatPost) => {
      posts.push({ atMs: machine.nowMs - startMs, post });
      const trouble = reply(posts.length);
      if (trouble) throw trouble;
    };
    return { machine, posts, waits, hearts: new Hearts({ sendChat: chat }, waits) };
  }

  test('the first is sent at once, those that follow together a second later', async () => {
    const { machine, posts, hearts } = sending();
    for (let heart = 0; heart < 8; heart++) {
      hearts.add();
      await machine.advance(100);
    }
    await machine.advance(5_000);
    expect(posts).toEqual([
      { atMs: 0, post: { kind: 'heart', count: 1 } },
      { atMs: 1_000, post: { kind: 'heart', count: 7 } },
    ]);
    hearts.add();
    expect(posts).toHaveLength(3);
  });

  test('[C-3] are at most 50 a post', async () => {
    const { machine, posts, hearts } = sending();
    for (let heart = 0; heart < 500; heart++) hearts.add();
    await machine.advance(5_000);
    expect(posts.map(({ post }) => post)).toEqual([
      { kind: 'heart', count: 1 },
      { kind: 'heart', count: 50 },
    ]);
  });

  test('wait as long as the service wishes, and go on', async () => {
    const { machine, posts, hearts } = sending((nth) =>
      nth === 1 ? new FourbeatError('busy', 'too much', 429, 4_000) : null,
    );
    hearts.add();
    await machine.advance(1_000);
    hearts.add();
    await machine.advance(2_900);
    expect(posts).toHaveLength(1);
    await machine.advance(200);
    expect(posts).toHaveLength(2);
  });

  test('of who has left are not sent', async () => {
    const { machine, posts, waits, hearts } = sending();
    hearts.add();
    hearts.add();
    await machine.advance(500);
    waits.stop();
    await machine.advance(5_000);
    expect(posts).toHaveLength(1);
    expect(machine.waiting).toBe(0);
  });
});
