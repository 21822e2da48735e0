import { Crowd } from '../crowd/crowd.ts';
import type { CrowdCommand } from '../crowd/messages.ts';
import { viewerProfileOf } from '../crowd/viewer-profile.ts';

// The crowd of the demo, in a process of its own: on two cores its load is not the service's.

const HOSTNAME = '127.0.0.1';
const REPORT_MS = 250;

type Begin = Extract<CrowdCommand, { kind: 'begin' }>;

async function attendShow({ port, streamId, viewers }: Begin): Promise<void> {
  const crowd = new Crowd({ hostname: HOSTNAME, port, streamId, viewers, viewerProfileOf });
  const tell = () => process.send?.(crowd.report());
  let telling: Timer | undefined;
  process.on('message', async (message: CrowdCommand) => {
    if (message.kind === 'promised') crowd.expectEvent(message.key, message.inMs);
    if (message.kind !== 'finish') return;
    await crowd.finish();
    clearInterval(telling);
    tell();
  });
  await crowd.start();
  telling = setInterval(tell, REPORT_MS);
  await crowd.admitViewers();
}

// The demo decides when it is over; Ctrl-C reaches us only by way of the demo.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Nobody to report to: the demo is gone, however it went.
process.on('disconnect', () => process.exit(0));
process.once('message', (message: CrowdCommand) => {
  if (message.kind === 'begin') void attendShow(message);
});
