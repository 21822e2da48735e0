import { expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { FakePlayable } from '../../../test/support/media/origin-fixture.ts';
import { RenderedTexts, zipped } from './rendered-texts.ts';

test('a text is made once for all, until its stream changes', async () => {
  const texts = new RenderedTexts();
  const playable = new FakePlayable().begin();
  let times = 0;
  const render = () => `made ${times++}`;
  const first = texts.of(playable, 'a', render);
  expect(texts.of(playable, 'a', render)).toBe(first);
  expect(texts.of(playable, 'b', render)?.plain).not.toEqual(first?.plain);
  playable.addSegment();
  const next = texts.of(playable, 'a', render);
  expect(new TextDecoder().decode(next?.plain)).toBe('made 2');
  expect(next?.etag).not.toBe(first?.etag);
  expect(times).toBe(3);
});

test('it is compressed once, and from then on there at once', async () => {
  const texts = new RenderedTexts();
  const playable = new FakePlayable().begin();
  const rendered = () => {
    const text = texts.of(playable, 'a', () => 'the same');
    if (!text) throw new Error('there is no text');
    return text;
  };
  const [a, b] = [zipped(rendered()), zipped(rendered())];
  expect(a).toBeInstanceOf(Promise);
  expect(b).toBe(a);
  const bytes = await a;
  expect(gunzipSync(bytes).toString()).toBe('the same');
  expect(zipped(rendered())).toBe(bytes);
  // The stream changed, and the text did not.
  playable.addSegment();
  expect(zipped(rendered())).toBe(bytes);
});

test('what there is nothing of is asked for again', () => {
  const texts = new RenderedTexts();
  const playable = new FakePlayable();
  expect(texts.of(playable, 'a', () => null)).toBeNull();
  expect(texts.of(playable, 'a', () => 'now')).not.toBeNull();
});
