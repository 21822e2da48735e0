import { expect, test } from 'bun:test';
import { HIDDEN_PER_CALL_MAX } from '../../../protocol/limits.ts';
import { idsOfViewer } from './viewer-messages.ts';

const messageOf = (id: string, viewer: string) => ({ id, viewer });

test('the messages to hide with a ban are those of the viewer, each once', () => {
  const messages = [messageOf('1', 'troll'), messageOf('2', 'fan'), messageOf('3', 'troll')];
  expect(idsOfViewer('troll', [...messages, messageOf('1', 'troll')])).toEqual([['1', '3']]);
  expect(idsOfViewer('nobody', messages)).toEqual([]);
});

test('the messages to hide with a ban fit into the calls of the API', () => {
  const count = HIDDEN_PER_CALL_MAX * 2 + 1;
  const messages = Array.from({ length: count }, (_, n) => messageOf(String(n), 'troll'));
  const groups = idsOfViewer('troll', messages);
  expect(groups.map(({ length }) => length)).toEqual([HIDDEN_PER_CALL_MAX, HIDDEN_PER_CALL_MAX, 1]);
  expect(groups.flat()).toEqual(messages.map(({ id }) => id));
});
