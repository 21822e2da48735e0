import { expect, test } from 'bun:test';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import {
  chatMessage as message,
  postedMessage as posted,
} from '../../../test/support/chat/chat-messages.ts';
import { createMemoryChatSource } from './chat-source-memory.ts';

const NO_POSTS = { messages: [], questions: [], greetings: [], cheers: [], hearts: 0 };

test('[C-7] drain omits streams without posts', () => {
  expect(createMemoryChatSource({ random: Math.random }).drain()).toEqual(new Map());
});

test('[C-6] drain returns each post once, under its stream', () => {
  const chat = createMemoryChatSource({ random: Math.random });
  chat.post('one', posted('message', message('a')));
  chat.hearts('two', 3);
  chat.post('one', posted('cheer', message('b')));
  chat.hearts('two', 4);
  expect(chat.drain()).toEqual(
    new Map([
      ['one', { ...NO_POSTS, messages: [message('a')], cheers: [message('b')] }],
      ['two', { ...NO_POSTS, hearts: 7 }],
    ]),
  );
  expect(chat.drain()).toEqual(new Map());
  chat.post('one', posted('greeting', message('c')));
  expect(chat.drain()).toEqual(new Map([['one', { ...NO_POSTS, greetings: [message('c')] }]]));
});

test('[C-8] each stream has its own sample of 50', () => {
  const chat = createMemoryChatSource({ random: Math.random });
  for (let post = 0; post < 1_000; post += 1)
    chat.post('busy', posted('message', message(`${post}`)));
  chat.post('calm', posted('message', message('alone')));
  const drained = chat.drain();
  expect(drained.get('busy')?.messages).toHaveLength(CHAT_SAMPLE);
  expect(drained.get('calm')?.messages).toEqual([message('alone')]);
});
