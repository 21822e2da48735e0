import { ConnectionLost, type HttpAnswer } from '../../../crowd/connections.ts';
import { Crowd } from '../../../crowd/crowd.ts';
import { type CrowdFigures, REHEARSED_QUIZZES_MAX } from '../../../protocol/rehearsal.ts';
import type { FromCrowdThread, ToCrowdThread } from './crowd-messages.ts';
import { LossyNet } from './lossy-net.ts';
import { checksMade, Mismatch } from './mismatch.ts';
import { rehearsedHabits } from './rehearsal-profile.ts';

declare const self: Worker;

// The viewers of a rehearsal, in a thread of their own: a show may be on in the one that answers.

const REPORT_MS = 250;
/** As long as a client waits for an answer that does not come. */
const GIVE_UP_MS = 1_000;

type Begin = Extract<ToCrowdThread, { kind: 'begin' }>;

const mismatch = new Mismatch();
/** Who waits for a token, by identifier. */
const waiting = new Map<string, (token: string | null) => void>();
/** What sends everybody home, once they have begun to come: a show may be over before. */
const begun = Promise.withResolvers<() => Promise<void>>();
const tell = (message: FromCrowdThread) => self.postMessage(message);

// The node gives its viewers their tokens: they take nothing of what the addresses of others may have.
async function askForToken(_streamId: string, identifier: string): Promise<HttpAnswer> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  waiting.set(identifier, resolve);
  tell({ kind: 'token-please', identifier });
  const token = await promise;
  if (token === null) throw new ConnectionLost('no token now');
  return { status: 200, body: Buffer.from(JSON.stringify({ token })), retryAfterS: 0 };
}

async function rehearse({ hostname, port, streamId, settings }: Begin): Promise<void> {
  const { viewers, lossShare } = settings;
  const loss = { lossShare, random: Math.random, giveUp: () => Bun.sleep(GIVE_UP_MS) };
  let net: LossyNet | undefined;
  const crowd = new Crowd({
    hostname,
    port,
    streamId,
    viewers,
    viewerProfileOf: (viewer, random) => rehearsedHabits(settings, viewer, random),
    wayOf: (straight) => {
      net = new LossyNet(straight, loss);
      return net;
    },
    askForToken,
  });
  const report = () => {
    const { isLast, present, requests } = crowd.report();
    const figures = { present, requests, lost: net?.lost ?? 0, ...booksOf(crowd, isLast) };
    tell({ kind: 'figures', figures, isLast });
  };
  await crowd.begin();
  const telling = setInterval(report, REPORT_MS);
  begun.resolve(async () => {
    await crowd.finish();
    clearInterval(telling);
    report();
  });
  await crowd.letIn();
}

function booksOf(
  crowd: Crowd,
  isLast: boolean,
): Pick<CrowdFigures, 'answers' | 'quizzes' | 'checks' | 'mismatch'> {
  const { acknowledged, late, unknown } = crowd.stats.answers.totals();
  const verdicts = crowd.verdicts();
  const quizzes = crowd.stats.answers.newest(REHEARSED_QUIZZES_MAX);
  return {
    answers: { acknowledged, refusedLate: late, unknown },
    quizzes: quizzes.map(({ id, question, acknowledged, late, counted }) => {
      return { id, question, acknowledged, refusedLate: late, counted };
    }),
    checks: checksMade(verdicts),
    mismatch: mismatch.told(verdicts, crowd.stats.banned > 0, performance.now(), isLast),
  };
}

self.onmessage = ({ data }: MessageEvent<ToCrowdThread>) => {
  if (data.kind === 'token') {
    waiting.get(data.identifier)?.(data.token);
    waiting.delete(data.identifier);
  } else if (data.kind === 'finish') void begun.promise.then((finish) => finish());
  else {
    rehearse(data).catch((error) => tell({ kind: 'failed', reason: Bun.inspect(error) }));
  }
};
