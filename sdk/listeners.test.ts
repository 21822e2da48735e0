import { expect, spyOn, test } from 'bun:test';
import { Listeners } from './listeners.ts';

test('a listener that is added during an event is called from the next event on', () => {
  const listeners = new Listeners();
  const received: string[] = [];
  const listen = (data: string) => {
    received.push(data);
    if (received.length < 100) listeners.on('x', listen);
  };
  listeners.on('x', listen);
  listeners.emit('x', 'first');
  expect(received).toEqual(['first']);
  listeners.emit('x', 'second');
  expect(received).toEqual(['first', 'second', 'second']);
});

test('a listener that is removed during an event is not called', () => {
  const listeners = new Listeners();
  const received: string[] = [];
  const removals: (() => void)[] = [];
  listeners.on('x', () => removals[0]?.());
  removals.push(listeners.on('x', (data: string) => received.push(data)));
  listeners.emit('x', 'first');
  expect(received).toEqual([]);
});

test('exceptions and rejections of a listener are logged, and do not affect others', async () => {
  const logged = spyOn(console, 'error').mockImplementation(() => {});
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  try {
    const listeners = new Listeners();
    const received: string[] = [];
    const thrown = new Error('at once');
    const rejected = new Error('later');
    listeners.on('x', () => {
      throw thrown;
    });
    listeners.on('x', async () => {
      await null;
      throw rejected;
    });
    listeners.on('x', (data: string) => received.push(data));
    listeners.emit('x', 'first');
    expect(received).toEqual(['first']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged.mock.calls).toEqual([[thrown], [rejected]]);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    logged.mockRestore();
  }
});
