import { INTERVAL_MS } from '../protocol/interval.ts';
import { OUR_TOKEN_CHARS } from './heartbeat.ts';
import { startLoad } from './load/load.ts';
import type { LongPollResult, LongPollTask } from './load/long-poll-load.ts';
import { startNginx } from './peers/nginx.ts';
import { type Bench, IncorrectResponse } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { NCHAN_MODULE } from './run/dependencies.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { mergeResults } from './run/merge-results.ts';
import type { Pinned } from './run/pinned.ts';
import type { Result } from './run/result.ts';
import { makeTypicalInterval, POSTS } from './typical.ts';

/** Concurrent long polls. Each has a connection, and a process may have about 20,000. */
const VIEWER_COUNTS = [64, 1_000, 10_000];

/** Long polls of the current interval, which are released together when it is sealed. */
export const feedLongPoll: Bench = {
  name: 'feed-long-poll',
  description: 'long polls until their interval is sealed, against nchan',
  requires: ['nginx', 'libnginx-mod-nchan'],
  run: async (options) => {
    const parts: Record<string, Result> = {};
    for (const viewers of VIEWER_COUNTS) {
      const contenders = [fourbeatContender(viewers), nchan(viewers)];
      parts[viewers.toLocaleString('en')] = await compare(
        { bench: `feed-long-poll, ${viewers}`, title: '', contenders, targets: [] },
        options,
      );
    }
    return mergeResults(
      {
        bench: 'feed-long-poll',
        title: 'long polls of one stream, released together',
        notes: [
          'Times are from the end of the interval until half of the viewers, and until the last one, have the response; medians over intervals. ' +
            'Each viewer requests the next interval at once, and CPU includes requests, waiting and responses. ' +
            'The load reads all responses on one core: where its share is near 1, the times are also its own.',
          'Our service seals: a message is on disk before any viewer receives it. nchan gets a message published at that moment, checks no token and stores nothing; ' +
            'it has one worker, a channel in memory, and long polling as its manual shows it. Every viewer received every interval once, with the same bytes; after a 503 a viewer repeats the request.',
        ],
      },
      parts,
    );
  },
};

const fourbeatContender = (viewers: number): Contender => ({
  name: 'Fourbeat',
  start: async () => {
    const fourbeat = await startFourbeat();
    const { url, streamId, server, stop } = fourbeat;
    const tokens = await fourbeat.tokens(viewers);
    const headers = { Authorization: `Bearer ${tokens[0]}`, 'Content-Type': 'application/json' };
    const requests = POSTS.map((post) => ({
      url: `${url}/api/v1/events-streams/${streamId}/chats`,
      headers,
      body: JSON.stringify(post),
    }));
    const publisher = { when: 'within', requests } as const;
    const requestKind = { kind: 'interval', streamId, tokens } as const;
    return {
      measure: (seconds) =>
        measureLongPolls(server, { url, requestKind, viewers, publisher }, seconds),
      stop,
    };
  },
});

const LOCATIONS = `
    location = /publish {
      nchan_publisher;
      nchan_channel_id feed;
      nchan_message_buffer_length 40;
      nchan_message_timeout 30s;
    }
    location = /wait {
      nchan_subscriber longpoll;
      nchan_channel_id feed;
      nchan_subscriber_first_message newest;
      nchan_subscriber_timeout 0;
    }`;

const nchan = (viewers: number): Contender => ({
  name: 'nchan',
  start: async () => {
    const { url, server, stop } = await startNginx(LOCATIONS, {}, [NCHAN_MODULE]);
    const headers = { 'Content-Type': 'application/json' };
    const requests = [{ url: `${url}/publish`, headers, body: await typicalBody() }];
    const publisher = { when: 'after', requests } as const;
    const authorization = `Bearer ${'x'.repeat(OUR_TOKEN_CHARS)}`;
    const requestKind = { kind: 'message', path: '/wait', authorization } as const;
    return {
      measure: (seconds) =>
        measureLongPolls(server, { url, requestKind, viewers, publisher }, seconds),
      stop,
    };
  },
});

/** The body of a typical interval of ours, with INTERVAL for its number. */
async function typicalBody(): Promise<string> {
  const fourbeat = await startFourbeat();
  try {
    const { interval, body } = await makeTypicalInterval(fourbeat, await fourbeat.tokens(1));
    return body.replace(String(interval), 'INTERVAL');
  } finally {
    await fourbeat.stop();
  }
}

async function measureLongPolls(
  server: Pinned,
  task: Omit<LongPollTask, 'intervals'>,
  seconds: number,
): Promise<Record<string, number>> {
  const intervals = Math.round((seconds * 1_000) / INTERVAL_MS);
  const load = startLoad('long-poll-load.ts', { ...task, intervals } satisfies LongPollTask);
  try {
    await load.receive('measuring');
    const before = server.usage();
    await load.receive('measured');
    const cpuS = server.usage().cpuS - before.cpuS;
    const { incorrect, lastMs, halfMs, refused, loadCpuCores } =
      await load.receive<LongPollResult>('outcome');
    if (incorrect !== null) throw new IncorrectResponse(`${task.url}: ${incorrect}`);
    return {
      'last, ms': lastMs,
      'half, ms': halfMs,
      'CPU µs a response': (cpuS / (intervals * task.viewers)) * 1e6,
      refused,
      'load cores': loadCpuCores,
    };
  } finally {
    await load.stop();
  }
}
