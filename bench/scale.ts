import { measurePresence, type PresenceCase } from './scale-presence.ts';
import { measureStreams, type StreamsCase } from './scale-streams.ts';

// `npm run bench:scale` measures the cost of many nodes for Redis and prints the tables of docs/scale.md.
// `npm run bench:scale -- 10 streams`: seconds per case, and the parts to measure.

const SECONDS = Number(process.argv[2] ?? 10);
const NODES = [1, 2, 4, 8, 20];
const SEATS = [10_000, 100_000, 1_000_000];
/** Seats, and the viewers who are present. */
const SPARSE = [
  [1_000_000, 1_000],
  [1_000_000, 10_000],
  [1_000_000, 100_000],
] as const;
/** Seats of a stream whose count is read on 20 nodes all the time. */
const POLLED = [10_000, 1_000_000];
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

/** A row: the work of Redis per second, per viewer and per bitset. */
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

const PRESENCE = [
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

async function presence(): Promise<void> {
  console.log('\nPresence: one stream, everybody there.\n');
  head(...PRESENCE);
  for (const seats of SEATS) {
    for (const nodes of NODES) await presenceRow({ nodes, seats, viewers: seats });
  }
}

async function sparse(): Promise<void> {
  console.log('\nPresence: few are left of a million.\n');
  head(...PRESENCE);
  for (const [seats, viewers] of SPARSE) await presenceRow({ nodes: 20, seats, viewers });
}

async function polled(): Promise<void> {
  console.log('\nPresence: every node is asked for the count all the time.\n');
  head(...PRESENCE);
  for (const seats of POLLED) await presenceRow({ nodes: 20, seats, viewers: seats, polled: true });
}

async function streams(): Promise<void> {
  console.log(`\nStreams: ${NODES_WITH_STREAMS} nodes, per node and second.\n`);
  head(...STREAMS_HEAD);
  for (const [streams, active] of STREAMS) {
    await streamsRow({ nodes: NODES_WITH_STREAMS, streams, active });
  }
}

const PARTS = { presence, sparse, polled, streams };
const chosen = process.argv.slice(3);
for (const [name, measure] of Object.entries(PARTS)) {
  if (chosen.length === 0 || chosen.includes(name)) await measure();
}
