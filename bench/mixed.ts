import { intervalAt } from '../protocol/interval.ts';
import { type Bench, WrongAnswer } from './run/bench.ts';
import { compare, type Started } from './run/compare.ts';
import { type Fourbeat, startFourbeat } from './run/fourbeat.ts';
import { underLoad } from './run/loaded.ts';
import { answersTo, checkCounts, draftQuizzes, type OpenQuiz, publishQuiz } from './run/quizzes.ts';
import { INTERVAL, type Sometimes, type WrkRequest } from './run/wrk-script.ts';

const VIEWERS = 1_000;
const READS = 4;
/** Of so many requests one is another: primes, so that they are not all of the same viewers. */
const EVERY = { answer: 97, count: 211, heart: 499, line: 1_999 };
const LOOK_EACH_MS = 200;
/** All have come by then, and the load is still on. */
const ALL_THERE_MS = 1_000;
/** How long after a turn its quizzes are still open, and what was under way is told. */
const AFTER_MS = 3_000;
const SEALED_MS = 750;
const AT_ONCE = 64;

/** What viewers of a show do, as fast as they get answers. */
export const mixed: Bench = {
  name: 'mixed',
  about: 'a show: heartbeats, feed reads, answers, chat and counts together',
  needs: ['wrk'],
  run: (options) =>
    compare(
      {
        bench: 'mixed',
        title: `${VIEWERS.toLocaleString('en')} viewers of a show, each with a connection, as fast as they get answers`,
        contenders: [{ name: 'Fourbeat', start }],
        targets: [],
        notes: [
          `A viewer-second is a heartbeat, ${READS} reads of the interval before the last one, and a share of the rest: ` +
            `one request of ${EVERY.answer} is an answer to a quiz (durable), one of ${EVERY.count} reads the count, ` +
            `one of ${EVERY.heart} is a heart, one of ${EVERY.line} a line of chat.`,
          `*All counted* is the share of looks, five a second, at which the count was exactly ${VIEWERS}: more it was never, and less while heartbeats were late. No interval changed after it was told, no heart was lost or made up, ` +
            'and each quiz counted each viewer once, although every answer was sent again.',
        ],
      },
      options,
    ),
};

async function start(): Promise<Started> {
  const fourbeat = await startFourbeat();
  const tokens = await fourbeat.tokens(VIEWERS);
  return { measure: (seconds) => measured(fourbeat, tokens, seconds), stop: fourbeat.stop };
}

async function measured(fourbeat: Fourbeat, tokens: readonly string[], seconds: number) {
  const { url, server } = fourbeat;
  // One quiz a second: with 1,000 viewers more answers than will be sent.
  const ids = await draftQuizzes(fourbeat, seconds, seconds * 1_000 + AFTER_MS);
  const quizzes = await Promise.all(ids.map((id) => publishQuiz(fourbeat, id)));
  const answers = answersOf(fourbeat, quizzes, tokens);
  const first = intervalAt(Date.now());
  const counts: number[] = [];
  const seen: Seen = { told: new Map(), counts };
  const check = (ending: AbortSignal) => look(fourbeat, tokens, seen, ending);
  const load = {
    requests: heartbeatsAndReads(fourbeat, tokens),
    sometimes: sometimes(fourbeat, tokens, answers),
    connections: VIEWERS,
  };
  const { outcome, cpuS, figures } = await underLoad({ url, server, seconds, check, ...load });
  const [often = 0, ...others] = outcome.sent;
  const all = others.reduce((sum, count) => sum + count, often);
  const viewerSeconds = (outcome.requests * (often / all)) / (1 + READS);
  await sendAgain(url, answers);
  await checkHearts(fourbeat, tokens, seen.told, first, outcome.sent[3] ?? 0);
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

/** In the order of EVERY. */
function sometimes(
  { streamId }: Fourbeat,
  tokens: readonly string[],
  answers: readonly WrkRequest[],
): Sometimes[] {
  const counts = tokens.map((token) => ({
    method: 'GET',
    path: `/api/v1/view-counts/${streamId}`,
    headers: { Authorization: `Bearer ${token}` },
  }));
  const posts = (post: object) =>
    tokens.map((token) =>
      posted(token, `/api/v1/events-streams/${streamId}/chats`, JSON.stringify(post)),
    );
  return [
    { every: EVERY.answer, requests: answers, once: true },
    { every: EVERY.count, requests: counts },
    { every: EVERY.heart, requests: posts({ kind: 'heart' }) },
    { every: EVERY.line, requests: posts({ kind: 'message', name: 'Mina', text: 'Hello, all!' }) },
  ];
}

/** Of all viewers to all quizzes. */
function answersOf(
  fourbeat: Fourbeat,
  quizzes: readonly OpenQuiz[],
  tokens: readonly string[],
): WrkRequest[] {
  return quizzes.flatMap((quiz) => {
    const { path, requests } = answersTo(fourbeat.streamId, quiz);
    return tokens.map((token, viewer) =>
      posted(token, path, requests[viewer % requests.length]?.body ?? ''),
    );
  });
}

function posted(token: string, path: string, body: string): WrkRequest {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers, body };
}

/** What somebody saw who read all the time. */
interface Seen {
  readonly told: Map<number, string>;
  readonly counts: number[];
}

/** Reads what viewers read. @throws WrongAnswer when more are counted than there are, or never all */
async function look(
  fourbeat: Fourbeat,
  tokens: readonly string[],
  { told, counts }: Seen,
  ending: AbortSignal,
): Promise<void> {
  await Bun.sleep(ALL_THERE_MS);
  while (!ending.aborted) {
    const interval = intervalAt(Date.now()) - 2;
    told.set(interval, await read(fourbeat, tokens, `events-streams/ID?interval=${interval}`));
    counts.push(JSON.parse(await read(fourbeat, tokens, 'view-counts/ID')).value);
    await Bun.sleep(LOOK_EACH_MS);
  }
  const most = Math.max(...counts);
  if (most !== VIEWERS) throw new WrongAnswer(`${most} viewers are counted of ${VIEWERS}`);
}

async function read(
  { url, streamId }: Fourbeat,
  [token]: readonly string[],
  path: string,
): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/v1/${path.replace('ID', streamId)}`, { headers });
  if (!answer.ok) throw new WrongAnswer(`${path} is ${answer.status}`);
  return answer.text();
}

/** Nobody knows which answers were under way at the end: all are sent again, and none counts twice. */
async function sendAgain(url: string, answers: readonly WrkRequest[]): Promise<void> {
  for (let at = 0; at < answers.length; at += AT_ONCE) {
    const some = answers
      .slice(at, at + AT_ONCE)
      .map(async ({ method, path, headers, body = '' }) => {
        const { status } = await fetch(`${url}${path}`, { method, headers, body });
        if (status !== 204) throw new WrongAnswer(`the same answer again is ${status}`);
      });
    await Promise.all(some);
  }
}

/** @param sent hearts; what was under way at the end may be in or not */
async function checkHearts(
  fourbeat: Fourbeat,
  tokens: readonly string[],
  told: ReadonlyMap<number, string>,
  first: number,
  sent: number,
): Promise<void> {
  await Bun.sleep(SEALED_MS);
  let hearts = 0;
  const last = intervalAt(Date.now()) - 1;
  for (let interval = first; interval <= last; interval += 1) {
    const body = await read(fourbeat, tokens, `events-streams/ID?interval=${interval}`);
    if ((told.get(interval) ?? body) !== body) throw new WrongAnswer(`${interval} has changed`);
    const events = JSON.parse(body).events as { type: string; data: { hearts: number } }[];
    hearts += events.find(({ type }) => type === 'chats')?.data.hearts ?? 0;
  }
  if (hearts <= sent && hearts >= sent - VIEWERS) return;
  throw new WrongAnswer(`${hearts} hearts are told, ${sent} were sent`);
}
