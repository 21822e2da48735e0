import { expect, test } from 'bun:test';
import { RenditionList } from './rendition-list.ts';

const rendition = (height: number) => ({
  id: `${height}p`,
  width: height * 2,
  height,
  bitrate: height * 1_000,
});

/** A list, and the events that it told. */
function newList() {
  const list = new RenditionList();
  const told: string[] = [];
  for (const type of ['addrendition', 'change']) {
    list.addEventListener(type, () => told.push(type));
  }
  return { list, told };
}

test('is read like an array, as the controls do', () => {
  const { list, told } = newList();
  expect([...list]).toEqual([]);
  list.replace([rendition(180), rendition(360)]);
  expect(told).toEqual(['addrendition']);
  expect([...list]).toEqual([rendition(180), rendition(360)]);
  expect(list[1]).toEqual(rendition(360));
  expect(Array.prototype.findIndex.call(list, ({ id }) => id === '360p')).toBe(1);
  list.replace([rendition(180)]);
  expect(list.length).toBe(1);
  expect(list[1]).toBeUndefined();
});

test('tells a choice once', () => {
  const { list, told } = newList();
  list.replace([rendition(180), rendition(360)]);
  expect(list.selectedIndex).toBe(-1);
  list.selectedIndex = 1;
  list.selectedIndex = 1;
  expect(told).toEqual(['addrendition', 'change']);
  list.selectedIndex = -1;
  expect(told).toHaveLength(3);
});

test('a choice that is gone is the network’s again', () => {
  const { list } = newList();
  list.replace([rendition(180), rendition(360)]);
  list.selectedIndex = 1;
  list.replace([rendition(180), rendition(360), rendition(540)]);
  expect(list.selectedIndex).toBe(1);
  list.replace([rendition(180)]);
  expect(list.selectedIndex).toBe(-1);
});
