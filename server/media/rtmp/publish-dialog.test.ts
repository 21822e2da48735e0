import { describe, expect, test } from 'bun:test';
import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import { commandMessage, type DialogStep, PublishDialog, streamKey } from './publish-dialog.ts';
import { COMMAND_AMF3, type RtmpMessage } from './rtmp-message.ts';

const CONNECT = commandMessage(0, 'connect', 1, { app: 'live', tcUrl: 'rtmp://host/live' });

/** What is said, a line for each step. */
function said(steps: readonly DialogStep[]): unknown[] {
  return steps.map((step) => (step.kind === 'send' ? plain(step.message) : step));
}

/** A message as its type and what is in it. */
function plain({ type, streamId, payload }: RtmpMessage): unknown {
  return type === 20 ? [streamId, ...readAmf(payload)] : [type, ...payload];
}

function connected(app = 'live'): PublishDialog {
  const dialog = new PublishDialog();
  dialog.command(commandMessage(0, 'connect', 1, { app }));
  return dialog;
}

test('[M-2] a source is led to its publishing', () => {
  const dialog = new PublishDialog();
  expect(said(dialog.command(CONNECT))).toEqual([
    [5, 0, 0x26, 0x25, 0xa0],
    [6, 0, 0x26, 0x25, 0xa0, 2],
    [1, 0, 0, 0x10, 0],
    [
      0,
      '_result',
      1,
      expect.objectContaining({ capabilities: 31 }),
      expect.objectContaining({ code: 'NetConnection.Connect.Success', objectEncoding: 0 }),
    ],
  ]);
  const command = (...values: AmfValue[]) => said(dialog.command(commandMessage(0, ...values)));
  expect(command('releaseStream', 2, null, 'KEY')).toEqual([[0, '_result', 2, null, undefined]]);
  expect(command('FCPublish', 3, null, 'KEY')).toEqual([[0, '_result', 3, null, undefined]]);
  expect(command('createStream', 4, null)).toEqual([[0, '_result', 4, null, 1]]);
  expect(command('_checkbw', 5, null)).toEqual([]);
  const publish = commandMessage(1, 'publish', 6, null, 'KEY', 'live');
  expect(said(dialog.command(publish))).toEqual([{ kind: 'publish', key: 'KEY' }]);
  expect(dialog.publishing().map(plain)).toEqual([
    [4, 0, 0, 0, 0, 0, 1],
    [1, 'onStatus', 0, null, expect.objectContaining({ code: 'NetStream.Publish.Start' })],
  ]);
  expect(command('FCUnpublish', 7, null, 'KEY')).toEqual([{ kind: 'unpublish' }]);
});

test('commands of AMF 3 are those of AMF 0 after a byte', () => {
  const { payload } = CONNECT;
  const amf3 = { ...CONNECT, type: COMMAND_AMF3, payload: Buffer.concat([Buffer.of(0), payload]) };
  expect(new PublishDialog().command(amf3)).toEqual(new PublishDialog().command(CONNECT));
});

test('[M-5] why a source is refused is told as an error', () => {
  const refusal = connected().refusal('NetStream.Publish.BadName', 'No stream has this key.');
  expect(readAmf(refusal.payload)).toEqual([
    'onStatus',
    0,
    null,
    { level: 'error', code: 'NetStream.Publish.BadName', description: 'No stream has this key.' },
  ]);
});

test.each([
  ['live', 'KEY', 'KEY'],
  ['live/', '/KEY', 'KEY'],
  ['live', 'KEY?backup=1&x=/', 'KEY'],
  ['live/KEY', '', 'KEY'],
  ['live/KEY/', '?a=b', 'KEY'],
  ['live/KEY?a=b', '', 'KEY'],
  ['/live/KEY', '', 'KEY'],
  ['live', 'live/KEY', 'KEY'],
  ['live', ' KEY ', 'KEY'],
  ['live', '', ''],
  ['', '', ''],
])('[M-2] the app %j and the name %j have the key %j', (app, name, key) => {
  expect(streamKey(app, name)).toBe(key);
  const dialog = connected(app);
  const steps = dialog.command(commandMessage(1, 'publish', 5, null, name, 'live'));
  expect(steps).toEqual([{ kind: 'publish', key }]);
});

test('who wants to play is refused', () => {
  const steps = connected().command(commandMessage(1, 'play', 5, null, 'KEY'));
  expect(steps).toMatchObject([{ kind: 'refuse', code: 'NetStream.Play.StreamNotFound' }]);
});

describe('[M-16] what is refused', () => {
  test.each([
    [
      'a command before connect',
      () => new PublishDialog(),
      ['publish', 1],
      '"publish" came before',
    ],
    ['connect again', connected, ['connect', 2, {}], 'twice'],
    ['a command without a name', connected, [5], 'no name'],
    ['nothing', connected, [], 'no name'],
  ] as const)('%s', (_, dialog, values, line) => {
    expect(() => dialog().command(commandMessage(0, ...values))).toThrow(line);
  });

  test('a second publishing', () => {
    const dialog = connected();
    const publish = commandMessage(1, 'publish', 5, null, 'KEY');
    dialog.command(publish);
    expect(() => dialog.command(publish)).toThrow('twice');
  });

  test('commands without end', () => {
    const dialog = connected();
    const ask = () => dialog.command(commandMessage(0, 'createStream', 2, null));
    expect(() => Array.from({ length: 64 }, ask)).toThrow('too many commands');
  });

  test('what is no AMF', () => {
    const payload = Buffer.concat([writeAmf(['connect', 1]), Buffer.of(77)]);
    expect(() => connected().command({ ...CONNECT, payload })).toThrow('AMF: type 77');
  });
});
