import { intervalAt } from '../protocol/interval.ts';
import { type Bench, IncorrectResponse } from './run/bench.ts';
import { compare, type Started } from './run/compare.ts';
import { type Fourbeat, startFourbeat } from './run/fourbeat.ts';
import { measureUnderLoad } from './run/measure-under-load.ts';
import {
  answerRequests,
  checkCounts,
  draftQuizzes,
  type OpenQuiz,
  publishQuiz,
} from './run/quizzes.ts';
import { INTERVAL, type OccasionalRequests, type WrkRequest } from './run/wrk-script.ts';

const VIEWERS = 1_000;
const READS = 4;
/** One request of this many is of the kind. The numbers are primes, so that the senders vary. */
const EVERY = { answer: 97, count: 211, heart: 499, message: 1_999 };
const OBSERVE_EVERY_MS = 200;
/** After this time all viewers are counted, and the load still runs. */
const SETTLE_MS = 1_000;
/** How long quizzes stay open after the load, for requests that are still in progress. */
const AFTER_MS = 3_000;
const SEAL_MS = 750;
const CONCURRENCY = 64;

/** All requests of viewers of a show, each sent after the response to the previous one. */
export const mixed: Bench = {
  name: 'mixed',
  description: 'a show: heartbeats, feed reads, answers, chat and counts together',
  requires: ['wrk'],
  run: (options) =>
    compare(
      {
        bench: 'mixed',
        title: `${VIEWERS.toLocaleString('en')} viewers of a show, each with a connection, as fast as responses come`,
        contenders: [{ name: 'Fourbeat', start }],
        targets: [],
        notes: [
          `A viewer-second is a heartbeat, ${READS} reads of the interval before the last one, and a share of the other requests: ` +
            `one of ${EVERY.answer} requests is a durable answer to a quiz, one of ${EVERY.count} reads the count, ` +
            `one of ${EVERY.heart} is a heart, one of ${EVERY.message} a chat message.`,
          `*All counted* is the share of samples, five a second, in which the count was exactly ${VIEWERS}. It was never higher, and lower while heartbeats were late. No interval changed after it was sealed, no heart was lost or invented, ` +
            'and each quiz counted each viewer once, although every answer was sent twice.',
        ],
      },
      options,
    ),
};

async function start(): Promise<Started> {
  const fourbeat = await startFourbeat();
  const tokens = await fourbeat.tokens(VIEWERS);
  return { measure: (seconds) => measureShow(fourbeat, tokens, seconds), stop: fourbeat.stop };
}

async function measureShow(fourbeat: Fourbeat, tokens: readonly string[], seconds: number) {
  const { url, server } = fourbeat;
  // One quiz per second: with 1,000 viewers that is more answers than the load sends.
  const ids = await draftQuizzes(fourbeat, seconds, seconds * 1_000 + AFTER_MS);
  const quizzes = await Promise.all(ids.map((id) => publishQuiz(fourbeat, id)));
  const answers = answersOf(fourbeat, quizzes, tokens);
  const firstInterval = intervalAt(Date.now());
  const counts: number[] = [];
  const seen: Observations = { bodies: new Map(), counts };
  const check = (loadEnded: AbortSignal) => observe(fourbeat, tokens, seen, loadEnded);
  const load = {
    requests: heartbeatsAndReads(fourbeat, tokens),
    occasional: occasionalRequests(fourbeat, tokens, answers),
    connections: VIEWERS,
  };
  const { outcome, cpuS, figures } = await measureUnderLoad({
    url,
    server,
    seconds,
    check,
    ...load,
  });
  const [often = 0, ...others] = outcome.sent;
  const all = others.reduce((sum, count) => sum + count, often);
  const viewerSeconds = (outcome.requests * (often / all)) / (1 + READS);
  await sendAgain(url, answers);
  await checkHearts(fourbeat, tokens, seen.bodies, firstInterval, outcome.sent[3] ?? 0);
  await checkCounts(
    fourbeat,
    ids,
    ids.map(() => VIEWERS),
  );
  return {
    'requests/s': figures['requests/s'],
    'CPU µs a viewer-second': (cpuS / viewerSeconds) * 1e6,
    'CPU µs a request': figures['CPU µs a request'],
    'p99 ms': figures['p99 ms'],
    'all counted': counts.filter((count) => count === VIEWERS).length / counts.length,
  };
}

function heartbeatsAndReads({ streamId }: Fourbeat, tokens: readonly string[]): WrkRequest[] {
  return Array.from({ length: tokens.length * (1 + READS) }, (_, at) => {
    const [turn, kind] = [Math.floor(at / (1 + READS)), at % (1 + READS)];
    const viewer = (turn + Math.floor((kind * tokens.length) / (1 + READS))) % tokens.length;
    const headers = { Authorization: `Bearer ${tokens[viewer]}` };
    if (kind > 0) {
      return {
        method: 'GET',
        path: `/api/v1/events-streams/${streamId}?interval=${INTERVAL}`,
        headers,
      };
    }
    const path = `/api/v1/view-counts/${streamId}`;
    return { method: 'POST', path, headers: { ...headers, 'Content-Length': '0' } };
  });
}

/** The occasional requests, in the order of EVERY. */
function occasionalRequests(
  { streamId }: Fourbeat,
  tokens: readonly string[],
  answers: readonly WrkRequest[],
): OccasionalRequests[] {
  const counts = tokens.map((token) => ({
    method: 'GET',
    path: `/api/v1/view-counts/${streamId}`,
    headers: { Authorization: `Bearer ${token}` },
  }));
  const posts = (post: object) =>
    tokens.map((token) =>
      postRequest(token, `/api/v1/events-streams/${streamId}/chats`, JSON.stringify(post)),
    );
  return [
    { every: EVERY.answer, requests: answers, once: true },
    { every: EVERY.count, requests: counts },
    { every: EVERY.heart, requests: posts({ kind: 'heart' }) },
    {
      every: EVERY.message,
      requests: posts({ kind: 'message', name: 'Mina', text: 'Hello, all!' }),
    },
  ];
}

/** The answers of all viewers to all quizzes. */
function answersOf(
  fourbeat: Fourbeat,
  quizzes: readonly OpenQuiz[],
  tokens: readonly string[],
): WrkRequest[] {
  return quizzes.flatMap((quiz) => {
    const { path, requests } = answerRequests(fourbeat.streamId, quiz);
    return tokens.map((token, viewer) =>
      postRequest(token, path, requests[viewer % requests.length]?.body ?? ''),
    );
  });
}

function postRequest(token: string, path: string, body: string): WrkRequest {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers, body };
}

/** What the check read during the load. */
interface Observations {
  readonly bodies: Map<number, string>;
  readonly counts: number[];
}

/** Reads intervals and counts. @throws IncorrectResponse unless the highest count is that of all viewers */
async function observe(
  fourbeat: Fourbeat,
  tokens: readonly string[],
  { bodies, counts }: Observations,
  loadEnded: AbortSignal,
): Promise<void> {
  await Bun.sleep(SETTLE_MS);
  while (!loadEnded.aborted) {
    const interval = intervalAt(Date.now()) - 2;
    bodies.set(interval, await read(fourbeat, tokens, `events-streams/ID?interval=${interval}`));
    counts.push(JSON.parse(await read(fourbeat, tokens, 'view-counts/ID')).value);
    await Bun.sleep(OBSERVE_EVERY_MS);
  }
  const maxCount = Math.max(...counts);
  if (maxCount !== VIEWERS)
    throw new IncorrectResponse(`counted ${maxCount} of ${VIEWERS} viewers`);
}

async function read(
  { url, streamId }: Fourbeat,
  [token]: readonly string[],
  path: string,
): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/${path.replace('ID', streamId)}`, { headers });
  if (!response.ok) throw new IncorrectResponse(`${path} responded ${response.status}`);
  return response.text();
}

/** Sends all answers again, since some were in progress at the end. None must count twice. */
async function sendAgain(url: string, answers: readonly WrkRequest[]): Promise<void> {
  for (let at = 0; at < answers.length; at += CONCURRENCY) {
    const some = answers
      .slice(at, at + CONCURRENCY)
      .map(async ({ method, path, headers, body = '' }) => {
        const { status } = await fetch(`${url}${path}`, { method, headers, body });
        if (status !== 204) throw new IncorrectResponse(`the same answer again is ${status}`);
      });
    await Promise.all(some);
  }
}

/** @param sent number of hearts sent; those in progress at the end may be missing */
async function checkHearts(
  fourbeat: Fourbeat,
  tokens: readonly string[],
  bodies: ReadonlyMap<number, string>,
  firstInterval: number,
  sent: number,
): Promise<void> {
  await Bun.sleep(SEAL_MS);
  let hearts = 0;
  const last = intervalAt(Date.now()) - 1;
  for (let interval = firstInterval; interval <= last; interval += 1) {
    const body = await read(fourbeat, tokens, `events-streams/ID?interval=${interval}`);
    if ((bodies.get(interval) ?? body) !== body)
      throw new IncorrectResponse(`interval ${interval} has changed`);
    const events = JSON.parse(body).events as { type: string; data: { hearts: number } }[];
    hearts += events.find(({ type }) => type === 'chats')?.data.hearts ?? 0;
  }
  if (hearts <= sent && hearts >= sent - VIEWERS) return;
  throw new IncorrectResponse(`the feed has ${hearts} hearts, ${sent} were sent`);
}
