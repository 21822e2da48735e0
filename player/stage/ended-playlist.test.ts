import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { EndedPlaylist } from './ended-playlist.ts';

let mustBeLive: boolean;
let reloads: number;
let playlist: EndedPlaylist;
const refuse = (hasEnded: boolean) => {
  const isRefused = playlist.refuse(hasEnded, () => reloads++);
  jest.advanceTimersByTime(60_000);
  return isRefused;
};

beforeEach(() => {
  jest.useFakeTimers();
  mustBeLive = true;
  reloads = 0;
  playlist = new EndedPlaylist(() => mustBeLive);
});
afterEach(() => {
  playlist.stop();
  jest.useRealTimers();
});

test('[S-19] an ended playlist of a live show is loaded again until it is live', () => {
  expect([refuse(true), refuse(true), refuse(false)]).toEqual([true, true, false]);
  expect(reloads).toBe(2);
});

test('a playlist that ends later is played to its end', () => {
  expect([refuse(false), refuse(true)]).toEqual([false, false]);
  expect(reloads).toBe(0);
});

test('the recording of a show that is over is played at once', () => {
  mustBeLive = false;
  expect(refuse(true)).toBe(false);
});

test('a playlist that stays ended is played after some reloads', () => {
  const refusals = Array.from({ length: 8 }, () => refuse(true));
  expect(refusals.indexOf(false)).toBe(6);
  expect(reloads).toBe(6);
});

test('a stopped source is not loaded again', () => {
  playlist.refuse(true, () => reloads++);
  playlist.stop();
  jest.advanceTimersByTime(60_000);
  expect(reloads).toBe(0);
});
