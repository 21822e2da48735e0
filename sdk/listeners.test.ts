import { expect, spyOn, test } from 'bun:test';
import { Listeners } from './listeners.ts';

test('who begins to listen while something is told hears of the next one, and there is an end to it', () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const listen = (data: string) => {
    heard.push(data);
    if (heard.length < 100) listeners.on('x', listen);
  };
  listeners.on('x', listen);
  listeners.tell('x', 'first');
  expect(heard).toEqual(['first']);
  listeners.tell('x', 'second');
  expect(heard).toEqual(['first', 'second', 'second']);
});

test('who is ended while something is told does not hear of it', () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const ends: (() => void)[] = [];
  listeners.on('x', () => ends[0]?.());
  ends.push(listeners.on('x', (data: string) => heard.push(data)));
  listeners.tell('x', 'first');
  expect(heard).toEqual([]);
});

test('what a listener throws, at once or later, is on the console, and stops no other', async () => {
  const logged = spyOn(console, 'error').mockImplementation(() => {});
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  try {
    const listeners = new Listeners();
    const heard: string[] = [];
    const atOnce = new Error('at once');
    const later = new Error('later');
    listeners.on('x', () => {
      throw atOnce;
    });
    listeners.on('x', async () => {
      await null;
      throw later;
    });
    listeners.on('x', (data: string) => heard.push(data));
    listeners.tell('x', 'first');
    expect(heard).toEqual(['first']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged.mock.calls).toEqual([[atOnce], [later]]);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    logged.mockRestore();
  }
});
