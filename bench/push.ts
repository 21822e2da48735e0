import { fourbeatPush } from './load/fourbeat-push.ts';
import type { PushTask } from './load/push-load.ts';
import type { PushProtocolName } from './load/push-protocols.ts';
import { pushStep } from './load/push-step.ts';
import { startNginx } from './peers/nginx.ts';
import type { Peer } from './peers/peer.ts';
import { startPeer } from './peers/program.ts';
import type { Bench } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { NCHAN_MODULE } from './run/dependencies.ts';
import { startFourbeat } from './run/fourbeat.ts';
import type { Result } from './run/result.ts';
import { makeTypicalInterval } from './typical.ts';

const CLIENTS = [1_000, 5_000];
const SOCKET_IO = 'Socket.IO';
const AT_LEAST = 5;
const AIM = 15;

/** Intervals that are pushed to all viewers, against broadcasts of other servers. */
export const push: Bench = {
  name: 'push',
  description: 'messages a CPU second to many viewers, against Socket.IO, nchan and Bun',
  requires: ['nginx', 'libnginx-mod-nchan'],
  run: async (options) => {
    const results: Result[] = [];
    for (const clients of CLIENTS) results.push(await comparisonOf(clients, options));
    return {
      bench: 'push',
      title: 'an interval of chat to every viewer, four times a second',
      rows: results.flatMap(({ rows, title }) =>
        rows.map((row) => ({ ...row, name: `${row.name}, ${title}` })),
      ),
      targets: results.flatMap(({ targets, title }) =>
        targets.map((target) => ({ ...target, name: `${target.name}, ${title}` })),
      ),
      notes: [
        'A message has about 550 bytes. Each client checks that it receives every message once, in order ' +
          'and with the same bytes. CPU is all that a server used in that time: ours verifies tokens, accepts chat ' +
          'messages, seals and commits; the others send the message of a timer, or (nchan) of a publisher. ' +
          'A message is one write to one socket, which costs every server about the same in the kernel: ' +
          'a server that did nothing else would be the limit.',
        'Socket.IO 4 on Node is configured as its performance documentation recommends: only WebSocket, no ' +
          'compression, the opening request is released, and a room, whose packet it encodes once. nchan has ' +
          'one worker and EventSource subscribers. Bun publishes to a topic.',
      ],
    };
  },
};

function comparisonOf(clients: number, options: Parameters<Bench['run']>[0]): Promise<Result> {
  const reference: ReferenceBody = { body: '' };
  return compare(
    {
      bench: 'push',
      title: `${clients.toLocaleString('en')} clients`,
      contenders: [
        fourbeatContender(clients, reference),
        peer(SOCKET_IO, clients, 'socket.io', async () => ({
          ...(await startPeer('node', 'socket-io.mjs', { BODY: reference.body })),
          path: '/socket.io/?EIO=4&transport=websocket',
        })),
        peer('nchan, EventSource', clients, 'event-stream', async () => startNchan(reference)),
        peer('Bun, WebSocket publish', clients, 'websocket', async () => ({
          ...(await startPeer('bun', 'bun-publish.mjs', { BODY: reference.body })),
          path: '/',
        })),
      ],
      targets: [{ against: SOCKET_IO, atLeast: AT_LEAST, aim: AIM }],
    },
    options,
  );
}

/** A body of our service; the other contenders send the same. */
interface ReferenceBody {
  /** With INTERVAL in place of its number. */
  body: string;
}

const fourbeatContender = (clients: number, reference: ReferenceBody): Contender => ({
  name: 'Fourbeat, event stream',
  start: async () => {
    const fourbeat = await startFourbeat();
    const tokens = await fourbeat.tokens(clients);
    const { interval, body } = await makeTypicalInterval(fourbeat, tokens);
    reference.body = body.replace(String(interval), 'INTERVAL');
    return {
      measure: (seconds) => measurePush(fourbeat, fourbeatPush(fourbeat, tokens), seconds),
      stop: fourbeat.stop,
    };
  },
});

interface PushPeer extends Peer {
  readonly path: string;
  readonly publisher?: PushTask['publisher'];
}

function peer(
  name: string,
  clients: number,
  protocol: PushProtocolName,
  start: () => Promise<PushPeer>,
): Contender {
  return {
    name,
    start: async () => {
      const started = await start();
      const { hostname, port } = new URL(started.url);
      const { path, publisher = null } = started;
      const tokens = Array<string>(clients).fill('none');
      const task = { protocol, hostname, port: Number(port), path, tokens, publisher };
      return { measure: (seconds) => measurePush(started, task, seconds), stop: started.stop };
    },
  };
}

async function startNchan({ body }: ReferenceBody): Promise<PushPeer> {
  const started = await startNginx(
    `location = /publish { nchan_publisher; nchan_channel_id show; nchan_message_buffer_length 4; }
    location = /listen {
      nchan_subscriber eventsource;
      nchan_channel_id show;
      nchan_subscriber_first_message newest;
    }`,
    {},
    [NCHAN_MODULE],
  );
  const publish = { url: `${started.url}/publish`, headers: {}, body };
  return { ...started, path: '/listen', publisher: { when: 'after', requests: [publish] } };
}

async function measurePush(
  { server }: Pick<Peer, 'server'>,
  task: Parameters<typeof pushStep>[1],
  seconds: number,
) {
  const { cpuUs, kernelUs, p99Ms, memoryBytes, messageBytes } = await pushStep(
    server,
    task,
    seconds,
  );
  return {
    'messages/CPU s': 1e6 / cpuUs,
    'CPU µs a message': cpuUs,
    'of it the kernel': kernelUs,
    'p99 ms': p99Ms,
    'memory MB': memoryBytes / 2 ** 20,
    'bytes a message': messageBytes,
  };
}
