import { measurePresence, type PresenceResult } from './scale-presence.ts';

// `npm run bench:scale` measures what many nodes cost Redis, and prints the tables of docs/scale.md.

const NODES = [1, 2, 4, 8, 20];
const SEATS = [10_000, 100_000, 1_000_000];
const SECONDS = Number(process.argv[2] ?? 10);

function row(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

function head(...titles: readonly string[]): void {
  row(titles);
  row(titles.map(() => '--:'));
}

function presenceRow({ nodes, viewers, seconds, work, idle }: PresenceResult): void {
  const cpuMs = work.cpuMs - idle.cpuMs;
  const bytesIn = work.bytesIn - idle.bytesIn;
  row([
    viewers.toLocaleString('en'),
    nodes,
    (work.cpuMs / seconds).toFixed(1),
    (work.bytesIn / seconds / 1_000).toFixed(0),
    (work.bytesOut / seconds / 1_000).toFixed(1),
    ((cpuMs * 1e6) / seconds / viewers).toFixed(1),
    (bytesIn / seconds / viewers).toFixed(2),
    ((cpuMs * 1e3) / seconds / nodes / 4).toFixed(0),
  ]);
}

async function presence(): Promise<void> {
  head('viewers', 'nodes', 'CPU ms/s', 'in KB/s', 'out KB/s', 'CPU ns', 'in bytes', 'CPU µs');
  for (const seats of SEATS) {
    for (const nodes of NODES) {
      presenceRow(await measurePresence({ nodes, seats, viewers: seats, seconds: SECONDS }));
    }
  }
}

await presence();
