import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import type { ChatPost } from './api-client.ts';
import { CancellableTimers } from './cancellable-timers.ts';
import { HeartSender, mergeMessages, messagesOf } from './chat.ts';
import { FourbeatError } from './errors.ts';
import type { ChatMessage, Chats } from './types.ts';

const EMPTY: Chats = {
  messages: [],
  questions: [],
  greetings: [],
  cheers: [],
  purchases: [],
  hearts: 0,
  discounts: 0,
};

function message(text: string, at: number): ChatMessage {
  return { id: `${at}`, viewer: 'somebody', name: 'Ada', text, at };
}

const appendMessages = (messages: Parameters<typeof mergeMessages>[0], chats: Chats) =>
  mergeMessages(messages, messagesOf(chats));

describe('chat messages', () => {
  test('of all kinds are ordered by time', () => {
    const first = appendMessages([], { ...EMPTY, messages: [message('b', 2), message('d', 4)] });
    const all = appendMessages(first, {
      ...EMPTY,
      purchases: [message('g', 7)],
      cheers: [message('e', 5)],
      questions: [message('f', 6)],
      greetings: [message('h', 8)],
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

  test('[C-22] are shown once, whether the feed or the stream brings them first', () => {
    const recent = messagesOf({ ...EMPTY, messages: [message('a', 1), message('b', 2)] });
    const feed = { ...EMPTY, messages: [message('b', 2), message('c', 3)] };
    for (const all of [
      mergeMessages(appendMessages([], feed), recent),
      appendMessages(mergeMessages([], recent), feed),
    ]) {
      expect(all.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
      expect(mergeMessages(all, recent)).toBe(all);
    }
  });

  test('are limited to the newest 100', () => {
    let messages = appendMessages([], EMPTY);
    for (let at = 0; at < 150; at++)
      messages = appendMessages(messages, { ...EMPTY, cheers: [message('x', at)] });
    expect(messages).toHaveLength(100);
    expect([messages[0]?.at, messages.at(-1)?.at]).toEqual([50, 149]);
  });

  test('are the same array when there is no new one', () => {
    const messages = appendMessages([], { ...EMPTY, messages: [message('a', 1)] });
    expect(appendMessages(messages, { ...EMPTY, hearts: 3 })).toBe(messages);
  });
});

describe('hearts are sent', () => {
  function createHearts(reply: (nth: number) => FourbeatError | null = () => null) {
    const machine = new FakeMachine();
    const startMs = machine.nowMs;
    const posts: { readonly atMs: number; readonly post: ChatPost }[] = [];
    const timers = new CancellableTimers(machine.environment);
    const chat = async (post: ChatPost) => {
      posts.push({ atMs: machine.nowMs - startMs, post });
      const error = reply(posts.length);
      if (error) throw error;
    };
    return { machine, posts, timers, hearts: new HeartSender({ sendChat: chat }, timers) };
  }

  test('at once for the first, and in one batch a second later for those that follow', async () => {
    const { machine, posts, hearts } = createHearts();
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

  test('[C-3] in batches of at most 50', async () => {
    const { machine, posts, hearts } = createHearts();
    for (let heart = 0; heart < 500; heart++) hearts.add();
    await machine.advance(5_000);
    expect(posts.map(({ post }) => post)).toEqual([
      { kind: 'heart', count: 1 },
      { kind: 'heart', count: 50 },
    ]);
  });

  test('after the Retry-After of the service', async () => {
    const { machine, posts, hearts } = createHearts((nth) =>
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

  test('not at all after the viewer has left', async () => {
    const { machine, posts, timers, hearts } = createHearts();
    hearts.add();
    hearts.add();
    await machine.advance(500);
    timers.stop();
    await machine.advance(5_000);
    expect(posts).toHaveLength(1);
    expect(machine.pendingTimers).toBe(0);
  });
});
