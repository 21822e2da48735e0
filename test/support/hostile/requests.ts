import { MEMBERS } from '../conformance/body-members.ts';
import { EXAMPLE_BODIES } from '../conformance/example-bodies.ts';
import { malformedBodies, malformedMembers } from '../conformance/malformed-bodies.ts';
import { OPERATIONS, type OperationName } from '../conformance/operations.ts';
import { UNUSUAL_REQUESTS } from '../gateway/unusual-requests.ts';
import { damage } from './damage.ts';
import type { Exchange } from './raw-exchange.ts';
import type { Credential, World } from './world.ts';

export type Kind =
  | 'operation'
  | 'raw bytes'
  | 'pipeline'
  | 'comparison'
  | 'websocket'
  | 'rtmp'
  | 'srt'
  | 'slow';

/** One hostile request. It follows from its number, the seed and the world alone. */
export interface HostileRequest extends Exchange {
  readonly kind: Kind;
  /** What it is, for a report. */
  readonly label: string;
  /** Whose secrets the response may contain. */
  readonly owner: Credential['owner'];
  /** With `comparison`: the same request in a form that only the origin server takes. */
  readonly relayed?: Exchange;
  /** With `pipeline`: the request ids of the responses, in their order. */
  readonly requestIds?: readonly string[];
}

type Random = () => number;

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;
const chance = (random: Random, share: number) => random() < share;

/** Operations that end what other requests of the same world need: they come rarely. */
const DESTRUCTIVE: ReadonlySet<OperationName> = new Set([
  ...(['endStream', 'banViewer', 'removeMember', 'signOut', 'signOutEverywhere'] as const),
  ...(['patchOwnMember', 'revokeApiToken', 'deleteWebhook', 'withdrawPresenterKey'] as const),
  ...(['createPresenterKey', 'createRehearsal', 'rotateStreamKey'] as const),
]);
const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];
const USUAL_OPERATIONS = OPERATION_NAMES.filter((name) => !DESTRUCTIVE.has(name));

const KINDS: readonly (readonly [Kind, number])[] = [
  ['operation', 0.45],
  ['raw bytes', 0.25],
  ['comparison', 0.16],
  ['pipeline', 0.1],
  ['websocket', 0.02],
  ['rtmp', 0.01],
  ['srt', 0.009],
  ['slow', 0.001],
];

/** Makes one request. @param random seeded by the number of the request */
export function hostileRequest(world: World, random: Random): HostileRequest {
  switch (kindAt(random())) {
    case 'operation':
      return operationRequest(world, random);
    case 'raw bytes':
      return rawRequest(world, random);
    case 'comparison':
      return comparison(world, random);
    case 'pipeline':
      return pipeline(world, random);
    case 'websocket':
      return webSocket(world, random);
    case 'rtmp':
      return { ...strangeBytes(random), kind: 'rtmp' };
    case 'srt':
      return { ...strangeBytes(random), kind: 'srt' };
    case 'slow':
      return slowRequest(world, random);
  }
}

function kindAt(share: number): Kind {
  let left = share;
  for (const [kind, weight] of KINDS) {
    if (left < weight) return kind;
    left -= weight;
  }
  return 'operation';
}

/** A request of an operation before it is written as bytes. */
interface Draft {
  readonly name: OperationName;
  readonly method: string;
  readonly target: string;
  readonly credential: Credential;
  readonly headers: string;
  readonly body: string | Uint8Array | null;
}

function operationRequest(world: World, random: Random): HostileRequest {
  const draft = draftOf(world, random);
  const text = bytesOf(draft);
  return {
    kind: 'operation',
    label: `${draft.name} as ${draft.credential.name}`,
    owner: draft.credential.owner,
    parts: [text],
    responses: 1,
    isHead: draft.method === 'HEAD',
  };
}

function draftOf(world: World, random: Random): Draft {
  const name = pick(random, chance(random, 0.02) ? OPERATION_NAMES : USUAL_OPERATIONS);
  const { method, path } = OPERATIONS[name];
  const credential = pick(random, world.credentials);
  const allIds = chance(random, 0.7) ? world.ids : world.otherIds;
  // Whoever may publish a draft must not: its question is a secret for all others.
  const mayPublish = name === 'publishQuiz' && credential.owner !== null;
  const ids = mayPublish ? { ...allIds, quiz_id: allIds.open_quiz_id as string } : allIds;
  const filled = path.replace(/\{(\w+)\}/g, (_, id: string) =>
    chance(random, 0.9) ? (ids[id] ?? crypto.randomUUID()) : pick(random, STRANGE_SEGMENTS),
  );
  const query = name === 'readInterval' ? `?interval=${world.interval - 8}` : '';
  return {
    name,
    method: chance(random, 0.95) ? method : pick(random, METHODS),
    target: filled + (chance(random, 0.8) ? query : pick(random, STRANGE_QUERIES)),
    credential,
    headers: chance(random, 0.5) ? '' : pick(random, STRANGE_HEADERS),
    body: bodyOf(name, world, random),
  };
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'DELETE', 'PATCH'];
const STRANGE_SEGMENTS = [
  ...['', '.', '..', '%2e%2e', '%2f', '%00', '%ff', '%', '%zz', '*', "'", '"', '<script>', '-1'],
  ...['00000000-0000-0000-0000-000000000000', '__proto__', 'constructor', 'a'.repeat(4_000)],
  ...['%F0%9F%8E%89', '1;drop', '{{x}}', 'current', 'null', 'undefined', '~', '\\..\\'],
];
const STRANGE_QUERIES = [
  ...['?', '??', '?a', '?=', '?interval=', '?interval=-1', '?interval=1e9', '?interval=NaN', '?%'],
  ...[
    '?interval=0',
    '?interval=99999999999999999999',
    '?a=%00',
    '?limit=0',
    '?limit=-1',
    '?limit=1e9',
  ],
  ...['?before=x', '?after=9007199254740993', '?producer=x', '?page=2&page=3', '?format=csv'],
  ...[
    '?format=../../etc/passwd',
    `?q=${'a'.repeat(8_000)}`,
    '?from=0&to=9007199254740991',
    '?csrf=1',
  ],
];
const STRANGE_HEADERS = [
  'Accept: text/event-stream\r\n',
  `Accept: ${','.repeat(9_000)}\r\n`,
  'Accept: application/problem+json;q=0.0000001\r\n',
  'If-None-Match: *\r\n',
  `If-None-Match: ${'"x",'.repeat(2_000)}\r\n`,
  'Last-Event-ID: 99999999999999999999\r\n',
  'Last-Event-ID: -5\r\n',
  'Range: bytes=0-0,1-1,2-2\r\n',
  'Origin: null\r\n',
  'Origin: https://attacker.example\r\n',
  'Sec-Fetch-Site: cross-site\r\n',
  'X-Forwarded-For: 127.0.0.1\r\n',
  'X-Forwarded-Host: attacker.example\r\n',
  'X-Fourbeat-Client: guess 10.0.0.1\r\n',
  'Idempotency-Key: 1\r\n',
  `Idempotency-Key: ${'k'.repeat(300)}\r\n`,
  'Content-Encoding: gzip\r\n',
  'X-Request-Id: \x01\r\n',
  'Cookie: fourbeat=; fourbeat=x; __Host-fourbeat=y\r\n',
  'X-HTTP-Method-Override: DELETE\r\n',
  'Expect: 100-continue\r\n',
];

/** Valid bodies by operation; those of viewers name resources of the world. */
function exampleBody(name: OperationName, { ids, rightChoice }: World) {
  switch (name) {
    case 'createToken':
      return { stream_id: ids.stream_id, unique_user_identifier: 'someone' };
    case 'answerQuiz':
      return { streamId: ids.stream_id, choice: rightChoice, closeInterval: 1 };
    case 'postChat':
      return { kind: 'message', text: 'Hello', name: 'Ada' };
    case 'signIn':
      return { email: 'a@example.org', password: 'wrong password' };
    case 'saveOwnContact':
      return { roundId: ids.round_id, name: 'Ada', contact: 'ada@example.org' };
    case 'invite':
      return { email: 'b@example.org', role: 'host' };
    default:
      return EXAMPLE_BODIES[name] ?? { token: 'x' };
  }
}

function bodyOf(name: OperationName, world: World, random: Random): Draft['body'] {
  if (OPERATIONS[name].body === undefined && chance(random, 0.95)) return null;
  const valid = exampleBody(name, world);
  const share = random();
  if (share < 0.3) return JSON.stringify(valid);
  if (share < 0.6) {
    return pick(random, malformedMembers(valid, MEMBERS[name] ?? {}).concat(OTHER_BODY)).text;
  }
  if (share < 0.8) return pick(random, malformedBodies(valid)).text;
  if (share < 0.95) return damage(JSON.stringify(valid), random);
  return pick(random, ['['.repeat(60_000), '"'.repeat(20_000), 'x'.repeat(200_000), '']);
}

const OTHER_BODY = { fault: 'another object', text: '{"a":{"b":[1,2,{"c":null}]}}', expected: '' };

/** The bytes of a request, as Latin-1. */
function bytesOf({ method, target, credential, headers, body }: Draft): string {
  const text = body === null ? '' : Buffer.from(body as string).toString('latin1');
  const length =
    body === null ? '' : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  // A target is one word of printable bytes.
  const path = Buffer.from(target.replaceAll(' ', '%20')).toString('latin1');
  return `${method} ${path} HTTP/1.1\r\nHost: h\r\n${credential.lines}${headers}${length}\r\n${text}`;
}

/** Malformed and unusual bytes, of which the server may make nothing, one response or several. */
function rawRequest(world: World, random: Random): HostileRequest {
  const base = chance(random, 0.4)
    ? pick(random, UNUSUAL_REQUESTS)[1]
    : bytesOf(draftOf(world, random));
  const text = chance(random, 0.2) ? base : damage(base, random);
  const cut = Math.floor(random() * text.length);
  return {
    kind: 'raw bytes',
    label: 'raw bytes',
    // Damage can leave any credential in place.
    owner: ownerOf(text, world),
    parts: chance(random, 0.7) ? [text] : [text.slice(0, cut), 1, text.slice(cut)],
    responses: Number.POSITIVE_INFINITY,
    abandons: chance(random, 0.2),
    isHead: text.startsWith('HEAD '),
  };
}

/**
 * Whose secrets the response to these bytes may contain: those of the first credential of which the value is
 * in them. White space beside the value, or another cookie before it, leaves it valid.
 */
function ownerOf(text: string, { credentials }: World): Credential['owner'] {
  const used = credentials.filter(({ owner, lines }) => {
    // Reads with a session need no CSRF token, the second line.
    const value = (lines.split('\r\n', 1)[0] as string).split(/[ =]/).at(-1) as string;
    return owner !== null && text.includes(value);
  });
  return used[0]?.owner ?? null;
}

/** Up to 6 requests at once, each with an id by which its response is known. */
function pipeline(world: World, random: Random): HostileRequest {
  const requestIds: string[] = [];
  let text = '';
  const count = 2 + Math.floor(random() * 5);
  for (let n = 0; n < count; n++) {
    const requestId = `r${n}-${Math.floor(random() * 1e9)}`;
    // An error names the request's id; fast and relayed requests without one come in between.
    const missing = pick(random, [
      `GET /api/v1/events-streams/${world.streamId}?interval=x`,
      `POST /api/v1/view-counts/${crypto.randomUUID()}`,
      'GET /nothing',
      'GET /studio/v1/streams',
    ]);
    text += `${missing} HTTP/1.1\r\nHost: h\r\nX-Request-Id: ${requestId}\r\n\r\n`;
    requestIds.push(requestId);
    if (chance(random, 0.5)) {
      const viewer = `Authorization: Bearer ${world.viewerToken}\r\n`;
      text += `POST /api/v1/view-counts/${world.streamId} HTTP/1.1\r\nHost: h\r\n${viewer}\r\n`;
      requestIds.push('');
    }
  }
  const cut = Math.floor(random() * text.length);
  return {
    kind: 'pipeline',
    label: `a pipeline of ${requestIds.length}`,
    owner: null,
    parts: chance(random, 0.5) ? [text] : [text.slice(0, cut), 2, text.slice(cut)],
    responses: requestIds.length,
    requestIds,
  };
}

/** A request that a fast path takes, with small deviations; and its twin, which no fast path takes. */
function comparison(world: World, random: Random): HostileRequest {
  const { streamId, interval } = world;
  const credential = pick(
    random,
    chance(random, 0.6) ? [world.credentials[1] as Credential] : world.credentials,
  );
  const path = pick(random, [
    `POST /api/v1/view-counts/${streamId}`,
    `POST /api/v1/view-counts/${world.otherIds.stream_id}/`,
    `GET /api/v1/events-streams/${streamId}?interval=${interval - 8}`,
    `GET /api/v1/events-streams/${streamId}/?interval=${interval - 9}`,
    `GET /api/v1/events-streams/${streamId}?interval=0${interval - 8}`,
    `GET /api/v1/events-streams/${streamId}?interval=${interval + 9_000}`,
    `GET /api/v1/events-streams/${streamId}`,
    `GET /api/v1/events-streams/${streamId.toUpperCase()}?interval=${interval - 8}`,
    `POST /api/v1/quizzes/${world.ids.quiz_id}/answer`,
    `POST /api/v1/quizzes/${streamId}/record-winner?x=y`,
  ]);
  const headers = chance(random, 0.6) ? '' : pick(random, HARMLESS_HEADERS);
  const twin = (extra: string) => ({
    parts: [`${path} HTTP/1.1\r\nHost: h\r\n${credential.lines}${headers}${extra}\r\n`],
    responses: 1,
  });
  return {
    kind: 'comparison',
    label: `${path} as ${credential.name}`,
    owner: credential.owner,
    ...twin(''),
    relayed: twin('TE: trailers\r\n'),
  };
}

const HARMLESS_HEADERS = [
  'Accept: application/json\r\n',
  'Accept: application/problem+json\r\n',
  'Accept: application/json;q=0\r\n',
  'Accept:\r\n',
  'If-None-Match: *\r\n',
  'Content-Length: 0\r\n',
  'content-type: text/plain\r\n',
  'Origin: https://example.org\r\n',
  'X-Request-Id: me\r\n',
  'X-Request-Id: not an id\r\n',
  'Cookie: a=b\r\n',
  'X-Forwarded-For: 1.2.3.4\r\n',
];

const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

/** A handshake, whole or damaged, and frames that are whole, damaged, or the beginning of a huge one. */
function webSocket(world: World, random: Random): HostileRequest {
  const head = `GET /media/${world.streamId}/ingest HTTP/1.1\r\nHost: h\r\n${HANDSHAKE}\r\n`;
  const frame = pick(random, FRAMES);
  return {
    kind: 'websocket',
    label: 'a WebSocket',
    owner: null,
    parts: [chance(random, 0.7) ? head : damage(head, random), 5, frame, damage(frame, random)],
    responses: Number.POSITIVE_INFINITY,
    localAddress: addressOf(random),
  };
}

const KEY_MESSAGE = '{"key":"sk_wrong","type":"video/webm"}';
// RFC 6455, 5.2: masked with zeros, so that the payload stays readable.
const FRAMES = [
  `\x81${String.fromCharCode(0x80 | KEY_MESSAGE.length)}\0\0\0\0${KEY_MESSAGE}`,
  `\x01\x85\0\0\0\0hello`,
  `\x82\xff\0\0\0\0\0\x7f\xff\xff\0\0\0\0${'x'.repeat(4_000)}`,
  '\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0',
  '\x88\x80\0\0\0\0',
  '\x89\xfe\x01\x00\0\0\0\0',
  '\xf1\x80\0\0\0\0',
  '\x81\x05hello',
];

/** One of many loopback addresses: limits count by address. */
const addressOf = (random: Random) =>
  `127.${1 + Math.floor(random() * 250)}.${Math.floor(random() * 250)}.${1 + Math.floor(random() * 250)}`;

/** Bytes for a port that speaks another protocol. */
function strangeBytes(random: Random): Omit<HostileRequest, 'kind'> {
  const length = Math.floor(random() * 4_000);
  const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 256));
  // The version of RTMP and of an SRT handshake, so that some bytes get past the first check.
  if (chance(random, 0.5)) bytes[0] = pick(random, [3, 6, 0x80]);
  return {
    label: `${length} bytes`,
    owner: null,
    parts: [bytes],
    responses: Number.POSITIVE_INFINITY,
    localAddress: addressOf(random),
  };
}

/** A request that stops: the server must end it by itself. */
function slowRequest(world: World, random: Random): HostileRequest {
  const text = bytesOf(draftOf(world, random));
  const cut = 1 + Math.floor(random() * Math.max(1, text.length - 2));
  return {
    kind: 'slow',
    label: 'a request that stops',
    owner: ownerOf(text, world),
    parts: [text.slice(0, cut)],
    responses: 1,
    staysOpen: true,
  };
}
