import { ConnectionLost, type HttpResponse } from '../../../crowd/connections.ts';
import { Crowd } from '../../../crowd/crowd.ts';
import { REHEARSED_QUIZZES_MAX } from '../../../protocol/limits.ts';
import type { CrowdFigures } from '../../../protocol/rehearsal.ts';
import { runtime } from '../../platform/runtime.ts';
import type { CrowdThreadCommand, CrowdThreadEvent } from './crowd-messages.ts';
import { LossyNetwork } from './lossy-network.ts';
import { countChecks, MismatchDetector } from './mismatch-detector.ts';
import { rehearsalProfileOf } from './rehearsal-profile.ts';

declare const self: Worker;

// The simulated viewers of a rehearsal run in their own thread, so that they do not slow the service.

const REPORT_MS = 250;
/** How long a client waits for the response to a lost request. */
const REQUEST_TIMEOUT_MS = 1_000;

type StartCommand = Extract<CrowdThreadCommand, { kind: 'start' }>;

const mismatch = new MismatchDetector();
/** Open token requests, by identifier. */
const tokenRequests = new Map<string, (token: string | null) => void>();
/** Resolves to the function that ends the crowd; `finish` may arrive before the crowd has started. */
const finishCrowd = Promise.withResolvers<() => Promise<void>>();
const send = (message: CrowdThreadEvent) => self.postMessage(message);

// The node issues the tokens directly, so that the crowd uses up no rate limit of its address.
async function requestToken(_streamId: string, identifier: string): Promise<HttpResponse> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  tokenRequests.set(identifier, resolve);
  send({ kind: 'token-request', identifier });
  const token = await promise;
  if (token === null) throw new ConnectionLost('no token now');
  return { status: 200, body: Buffer.from(JSON.stringify({ token })), retryAfterS: 0 };
}

async function runCrowd({ hostname, port, streamId, settings }: StartCommand): Promise<void> {
  const { viewers, lossShare } = settings;
  const loss = {
    lossShare,
    random: runtime.random,
    waitForTimeout: () => runtime.sleep(REQUEST_TIMEOUT_MS),
  };
  let net: LossyNetwork | undefined;
  const crowd = new Crowd({
    hostname,
    port,
    streamId,
    viewers,
    viewerProfileOf: (viewer, random) => rehearsalProfileOf(settings, viewer, random),
    wrapTransport: (straight) => {
      net = new LossyNetwork(straight, loss);
      return net;
    },
    requestToken,
  });
  const report = () => {
    const { isLast, present, requests } = crowd.report();
    const figures = { present, requests, lost: net?.lost ?? 0, ...resultsOf(crowd, isLast) };
    send({ kind: 'figures', figures, isLast });
  };
  await crowd.start();
  const reportTimer = runtime.setInterval(report, REPORT_MS);
  finishCrowd.resolve(async () => {
    await crowd.finish();
    runtime.clearTimer(reportTimer);
    report();
  });
  await crowd.admitViewers();
}

function resultsOf(
  crowd: Crowd,
  isLast: boolean,
): Pick<CrowdFigures, 'answers' | 'quizzes' | 'checks' | 'mismatch'> {
  const { acknowledged, late, unknown } = crowd.stats.answers.totals();
  const verdicts = crowd.checkResults();
  const quizzes = crowd.stats.answers.newest(REHEARSED_QUIZZES_MAX);
  return {
    answers: { acknowledged, refusedLate: late, unknown },
    quizzes: quizzes.map(({ id, question, acknowledged, late, counted }) => {
      return { id, question, acknowledged, refusedLate: late, counted };
    }),
    checks: countChecks(verdicts),
    mismatch: mismatch.update(verdicts, crowd.stats.banned > 0, runtime.monotonicMs(), isLast),
  };
}

self.onmessage = ({ data }: MessageEvent<CrowdThreadCommand>) => {
  if (data.kind === 'token') {
    tokenRequests.get(data.identifier)?.(data.token);
    tokenRequests.delete(data.identifier);
  } else if (data.kind === 'finish') void finishCrowd.promise.then((finish) => finish());
  else {
    runCrowd(data).catch((error) => send({ kind: 'failed', reason: Bun.inspect(error) }));
  }
};
