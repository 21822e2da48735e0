import { INTERVAL_MS } from '../protocol/interval.ts';
import { OUR_TOKEN_CHARS } from './heartbeat.ts';
import type { HeldOutcome, HeldTask } from './load/held-load.ts';
import { startLoad } from './load/load.ts';
import { startNginx } from './peers/nginx.ts';
import { type Bench, WrongAnswer } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { NCHAN_MODULE } from './run/needed.ts';
import type { Pinned } from './run/pinned.ts';
import type { Result } from './run/result.ts';
import { together } from './run/together.ts';
import { makeTypicalInterval, POSTS } from './typical.ts';

/** How many requests are held at a time. Each has a connection, of which a process may have 20,000 or so. */
const CROWDS = [64, 1_000, 10_000];

/** Requests for the interval that is now, which are answered together when it is over. */
export const feedHeld: Bench = {
  name: 'feed-held',
  about: 'requests that are held until their interval is over, against nchan',
  needs: ['nginx', 'libnginx-mod-nchan'],
  run: async (options) => {
    const parts: Record<string, Result> = {};
    for (const viewers of CROWDS) {
      const contenders = [ours(viewers), nchan(viewers)];
      parts[viewers.toLocaleString('en')] = await compare(
        { bench: `feed-held, ${viewers}`, title: '', contenders, targets: [] },
        options,
      );
    }
    return together(
      {
        bench: 'feed-held',
        title: 'requests that are held, all of one stream, released together',
        notes: [
          'Times are from the end of the interval, medians over intervals: until the last viewer has the answer, and until half of them have. ' +
            'Each viewer asks for the next interval at once, and CPU is that of asking, holding and answering. ' +
            'The load reads all answers on one core, too, and where its share of it is near 1 the times are as much its own.',
          'Ours seals: what was posted is on disk before anybody is told. nchan has the message published at that moment, checks no token and keeps nothing; ' +
            'one worker, channel in memory, long polling as its manual has it. All viewers were told every interval once, with the same bytes; who is refused (503) asks again.',
        ],
      },
      parts,
    );
  },
};

const ours = (viewers: number): Contender => ({
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
    const talk = { when: 'within', requests } as const;
    const how = { kind: 'interval', streamId, tokens } as const;
    return { measure: (seconds) => measured(server, { url, how, viewers, talk }, seconds), stop };
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
    const talk = { when: 'after', requests } as const;
    const authorization = `Bearer ${'x'.repeat(OUR_TOKEN_CHARS)}`;
    const how = { kind: 'message', path: '/wait', authorization } as const;
    return { measure: (seconds) => measured(server, { url, how, viewers, talk }, seconds), stop };
  },
});

/** What ours tells, with a place for the number of the interval. */
async function typicalBody(): Promise<string> {
  const fourbeat = await startFourbeat();
  try {
    const { interval, body } = await makeTypicalInterval(fourbeat, await fourbeat.tokens(1));
    return body.replace(String(interval), 'INTERVAL');
  } finally {
    await fourbeat.stop();
  }
}

async function measured(
  server: Pinned,
  task: Omit<HeldTask, 'intervals'>,
  seconds: number,
): Promise<Record<string, number>> {
  const intervals = Math.round((seconds * 1_000) / INTERVAL_MS);
  const load = startLoad('held-load.ts', { ...task, intervals } satisfies HeldTask);
  try {
    await load.said('measuring');
    const before = server.usage();
    await load.said('measured');
    const cpuS = server.usage().cpuS - before.cpuS;
    const { wrong, lastMs, halfMs, refused, cpuShare } = await load.said<HeldOutcome>('outcome');
    if (wrong !== null) throw new WrongAnswer(`${task.url}: ${wrong}`);
    return {
      'last, ms': lastMs,
      'half, ms': halfMs,
      'CPU µs an answer': (cpuS / (intervals * task.viewers)) * 1e6,
      refused,
      'share of the load': cpuShare,
    };
  } finally {
    await load.stop();
  }
}
