import { expect, test } from 'bun:test';
import { RenditionList } from './rendition-list.ts';

const rendition = (height: number) => ({
  id: `${height}p`,
  width: height * 2,
  height,
  bitrate: height * 1_000,
});

/** A list, and the types of the events that it dispatched. */
function newList() {
  const list = new RenditionList();
  const events: string[] = [];
  for (const type of ['addrendition', 'change']) {
    list.addEventListener(type, () => events.push(type));
  }
  return { list, events };
}

test('a rendition list can be read like an array', () => {
  const { list, events } = newList();
  expect([...list]).toEqual([]);
  list.replace([rendition(180), rendition(360)]);
  expect(events).toEqual(['addrendition']);
  expect([...list]).toEqual([rendition(180), rendition(360)]);
  expect(list[1]).toEqual(rendition(360));
  expect(Array.prototype.findIndex.call(list, ({ id }) => id === '360p')).toBe(1);
  list.replace([rendition(180)]);
  expect(list.length).toBe(1);
  expect(list[1]).toBeUndefined();
});

test('a rendition list dispatches one change event per selection', () => {
  const { list, events } = newList();
  list.replace([rendition(180), rendition(360)]);
  expect(list.selectedIndex).toBe(-1);
  list.selectedIndex = 1;
  list.selectedIndex = 1;
  expect(events).toEqual(['addrendition', 'change']);
  list.selectedIndex = -1;
  expect(events).toHaveLength(3);
});

test('a rendition list selects by bandwidth again when the selected rendition is gone', () => {
  const { list } = newList();
  list.replace([rendition(180), rendition(360)]);
  list.selectedIndex = 1;
  list.replace([rendition(180), rendition(360), rendition(540)]);
  expect(list.selectedIndex).toBe(1);
  list.replace([rendition(180)]);
  expect(list.selectedIndex).toBe(-1);
});
