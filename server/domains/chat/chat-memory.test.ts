import { expect, test } from 'bun:test';
import type { ChatElement } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { createMemoryChat } from './chat-memory.ts';

const line = (id: string): ChatElement => ({
  id,
  viewer: 'viewer',
  name: 'Ann',
  text: 'Hi',
  at: 1,
});
const NOTHING = { messages: [], questions: [], greetings: [], cheers: [], hearts: 0 };

test('[C-7] a stream without posts is not in what is drained', () => {
  expect(createMemoryChat({ random: Math.random }).drain()).toEqual(new Map());
});

test('[C-6] what is posted is drained once, under its stream', () => {
  const chat = createMemoryChat({ random: Math.random });
  chat.say('one', 'message', line('a'));
  chat.hearts('two', 3);
  chat.say('one', 'cheer', line('b'));
  chat.hearts('two', 4);
  expect(chat.drain()).toEqual(
    new Map([
      ['one', { ...NOTHING, messages: [line('a')], cheers: [line('b')] }],
      ['two', { ...NOTHING, hearts: 7 }],
    ]),
  );
  expect(chat.drain()).toEqual(new Map());
  chat.say('one', 'greeting', line('c'));
  expect(chat.drain()).toEqual(new Map([['one', { ...NOTHING, greetings: [line('c')] }]]));
});

test('[C-8] each stream has its own sample of 50', () => {
  const chat = createMemoryChat({ random: Math.random });
  for (let post = 0; post < 1_000; post += 1) chat.say('busy', 'message', line(`${post}`));
  chat.say('calm', 'message', line('alone'));
  const drained = chat.drain();
  expect(drained.get('busy')?.messages).toHaveLength(CHAT_SAMPLE);
  expect(drained.get('calm')?.messages).toEqual([line('alone')]);
});
