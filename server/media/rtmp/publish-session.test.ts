import { describe, expect, test } from 'bun:test';
import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import { commandMessage, PublishSession, type PublishStep, streamKey } from './publish-session.ts';
import { COMMAND_AMF3, type RtmpMessage } from './rtmp-message.ts';

const CONNECT = commandMessage(0, 'connect', 1, { app: 'live', tcUrl: 'rtmp://host/live' });

/** The steps, with messages decoded. */
function decoded(steps: readonly PublishStep[]): unknown[] {
  return steps.map((step) => (step.kind === 'send' ? decode(step.message) : step));
}

/** Decodes a message to its type or stream id and content. */
function decode({ type, streamId, payload }: RtmpMessage): unknown {
  return type === 20 ? [streamId, ...readAmf(payload)] : [type, ...payload];
}

function connected(app = 'live'): PublishSession {
  const session = new PublishSession();
  session.command(commandMessage(0, 'connect', 1, { app }));
  return session;
}

test('[M-2] a source goes through connect, createStream and publish', () => {
  const session = new PublishSession();
  expect(decoded(session.command(CONNECT))).toEqual([
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
  const command = (...values: AmfValue[]) => decoded(session.command(commandMessage(0, ...values)));
  expect(command('releaseStream', 2, null, 'KEY')).toEqual([[0, '_result', 2, null, undefined]]);
  expect(command('FCPublish', 3, null, 'KEY')).toEqual([[0, '_result', 3, null, undefined]]);
  expect(command('createStream', 4, null)).toEqual([[0, '_result', 4, null, 1]]);
  expect(command('_checkbw', 5, null)).toEqual([]);
  const publish = commandMessage(1, 'publish', 6, null, 'KEY', 'live');
  expect(decoded(session.command(publish))).toEqual([{ kind: 'publish', key: 'KEY' }]);
  expect(session.acceptanceMessages().map(decode)).toEqual([
    [4, 0, 0, 0, 0, 0, 1],
    [1, 'onStatus', 0, null, expect.objectContaining({ code: 'NetStream.Publish.Start' })],
  ]);
  expect(command('FCUnpublish', 7, null, 'KEY')).toEqual([{ kind: 'unpublish' }]);
});

test('AMF 3 commands are read like AMF 0', () => {
  const { payload } = CONNECT;
  const amf3 = { ...CONNECT, type: COMMAND_AMF3, payload: Buffer.concat([Buffer.of(0), payload]) };
  expect(new PublishSession().command(amf3)).toEqual(new PublishSession().command(CONNECT));
});

test('[M-5] a refusal is an onStatus error with its reason', () => {
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
])('[M-2] app %j and name %j give the key %j', (app, name, key) => {
  expect(streamKey(app, name)).toBe(key);
  const session = connected(app);
  const steps = session.command(commandMessage(1, 'publish', 5, null, name, 'live'));
  expect(steps).toEqual([{ kind: 'publish', key }]);
});

test('a play command is refused', () => {
  const steps = connected().command(commandMessage(1, 'play', 5, null, 'KEY'));
  expect(steps).toMatchObject([{ kind: 'refuse', code: 'NetStream.Play.StreamNotFound' }]);
});

describe('[M-16] the publish session rejects', () => {
  test.each([
    [
      'a command before connect',
      () => new PublishSession(),
      ['publish', 1],
      '"publish" was sent before',
    ],
    ['a second connect', connected, ['connect', 2, {}], 'twice'],
    ['a command without a name', connected, [5], 'no name'],
    ['an empty command', connected, [], 'no name'],
  ] as const)('the publish session rejects %s', (_, session, values, errorText) => {
    expect(() => session().command(commandMessage(0, ...values))).toThrow(errorText);
  });

  test('the publish session rejects a second publish', () => {
    const session = connected();
    const publish = commandMessage(1, 'publish', 5, null, 'KEY');
    session.command(publish);
    expect(() => session.command(publish)).toThrow('twice');
  });

  test('the publish session rejects too many commands', () => {
    const session = connected();
    const createStream = () => session.command(commandMessage(0, 'createStream', 2, null));
    expect(() => Array.from({ length: 64 }, createStream)).toThrow('too many commands');
  });

  test('the publish session rejects malformed AMF', () => {
    const payload = Buffer.concat([writeAmf(['connect', 1]), Buffer.of(77)]);
    expect(() => connected().command({ ...CONNECT, payload })).toThrow('AMF: unsupported type 77');
  });
});

test('[M-16] all commands of a connection have at most 1,000 values', () => {
  const session = connected();
  const large = commandMessage(
    0,
    'x',
    0,
    Array.from({ length: 400 }, () => null),
  );
  session.command(large);
  session.command(large);
  expect(() => session.command(large)).toThrow('too many values');
});

test('[M-16] an app and a stream name have at most 1,024 characters', () => {
  expect(() => connected('/'.repeat(1_025))).toThrow('longer than 1,024');
  const publish = commandMessage(1, 'publish', 6, null, '/'.repeat(1_025));
  expect(() => connected().command(publish)).toThrow('longer than 1,024');
});
