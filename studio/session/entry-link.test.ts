import { expect, test } from 'bun:test';
import { entryLinkOf } from './entry-link.ts';

test.each([
  ['#setup=abc_-1', { kind: 'setup', token: 'abc_-1' }],
  ['#invitation=abc', { kind: 'link', token: 'abc' }],
  ['#password=abc', { kind: 'link', token: 'abc' }],
])('entryLinkOf parses %s', (hash, link) => expect(entryLinkOf(hash)).toEqual(link as never));

test.each(['', '#', '#setup=', '#setup=a b', '#other=abc', '#content'])(
  'entryLinkOf ignores "%s"',
  (hash) => expect(entryLinkOf(hash)).toBeNull(),
);
