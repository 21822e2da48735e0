import { measurePresence, type PresenceCase } from './scale-presence.ts';
import { measureStreams, type StreamsCase } from './scale-streams.ts';

// `npm run bench:scale` measures the cost of many nodes for Redis and prints the tables of docs/scale.md.
// `npm run bench:scale -- 10 streams`: seconds per case, and the parts to measure.

const SECONDS = Number(process.argv[2] ?? 10);
/** Streams, and how many of them have viewers. */
const STREAMS = [
  [1, 0],
  [1, 1],
  [100, 0],
  [100, 10],
  [10_000, 0],
  [10_000, 10],
  [10_000, 100],
  [10_000, 1_000],
] as const;
const NODES_WITH_STREAMS = 3;
const INTERVALS_A_SECOND = 4;

function row(...cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

function head(...titles: readonly string[]): void {
  row(...titles);
  row(...titles.map(() => '--:'));
}

const whole = (value: number) => Math.round(value).toLocaleString('en');

/** A row: the work of Redis per second, and, without that of an idle Redis, per viewer and per bitset. */
async function presenceRow(one: Omit<PresenceCase, 'seconds'>): Promise<void> {
  const { work, idle } = await measurePresence({ ...one, seconds: SECONDS });
  const cpuMs = (work.cpuMs - idle.cpuMs) / SECONDS;
  const bytesIn = (work.bytesIn - idle.bytesIn) / SECONDS;
  const bitsets = one.nodes * INTERVALS_A_SECOND;
  row(
    whole(one.seats),
    whole(one.viewers),
    one.nodes,
    (work.cpuMs / SECONDS).toFixed(1),
    whole(work.bytesIn / SECONDS / 1_000),
    (work.bytesOut / SECONDS / 1_000).toFixed(1),
    ((cpuMs * 1e6) / one.viewers).toFixed(1),
    (bytesIn / one.viewers).toFixed(2),
    whole((cpuMs * 1e3) / bitsets),
    whole(bytesIn / bitsets),
  );
}

async function streamsRow(one: Omit<StreamsCase, 'seconds'>): Promise<void> {
  const { work, roundTrips, sealed } = await measureStreams({ ...one, seconds: SECONDS });
  const perNode = (value: number) => (value / SECONDS / one.nodes).toFixed(1);
  row(
    whole(one.streams),
    whole(one.active),
    perNode(roundTrips),
    perNode(work.commands),
    perNode(work.cpuMs),
    (work.bytesIn / SECONDS / one.nodes / 1_000).toFixed(1),
    (work.bytesOut / SECONDS / one.nodes / 1_000).toFixed(1),
    (sealed / SECONDS).toFixed(1),
  );
}

const PRESENCE_HEAD = [
  'seats',
  'viewers',
  'nodes',
  'CPU, ms/s',
  'in, KB/s',
  'out, KB/s',
  'CPU per viewer-second, ns',
  'bytes in per viewer-second',
  'CPU per bitset, µs',
  'bytes per bitset',
];

const STREAMS_HEAD = [
  'streams',
  'with viewers',
  'round trips',
  'commands',
  'CPU, ms',
  'in, KB',
  'out, KB',
  'intervals sealed',
];

const all = (seats: number, nodes: number, polled = false) => ({
  nodes,
  seats,
  viewers: seats,
  polled,
});

/** The cases of the presence parts, by the title of their table. */
const PRESENCE_PARTS: Record<string, { title: string; cases: Omit<PresenceCase, 'seconds'>[] }> = {
  presence: {
    title: 'one stream, all viewers present',
    cases: [10_000, 100_000, 1_000_000].flatMap((seats) =>
      [1, 2, 4, 8, 20].map((nodes) => all(seats, nodes)),
    ),
  },
  sparse: {
    title: 'few viewers of a million seats are present',
    cases: [1_000, 10_000, 100_000].map((viewers) => ({ nodes: 20, seats: 1_000_000, viewers })),
  },
  polled: {
    title: 'every node serves the count all the time',
    cases: [10_000, 1_000_000].map((seats) => all(seats, 20, true)),
  },
};

async function streams(): Promise<void> {
  console.log(
    `\nStreams: ${NODES_WITH_STREAMS} nodes, per node and second; sealed intervals per second, of all nodes.\n`,
  );
  head(...STREAMS_HEAD);
  for (const [streams, active] of STREAMS) {
    await streamsRow({ nodes: NODES_WITH_STREAMS, streams, active });
  }
}

const chosen = process.argv.slice(3);
const isChosen = (part: string) => chosen.length === 0 || chosen.includes(part);
for (const [part, { title, cases }] of Object.entries(PRESENCE_PARTS)) {
  if (!isChosen(part)) continue;
  console.log(`\nPresence: ${title}.\n`);
  head(...PRESENCE_HEAD);
  for (const one of cases) await presenceRow(one);
}
if (isChosen('streams')) await streams();
