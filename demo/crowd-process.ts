import { Crowd } from '../crowd/crowd.ts';
import type { ToCrowd } from '../crowd/messages.ts';
import { viewerProfileOf } from '../crowd/viewer-profile.ts';

// The crowd of the demo, in a process of its own: on two cores its load is not the service's.

const HOSTNAME = '127.0.0.1';
const REPORT_MS = 250;

type Begin = Extract<ToCrowd, { kind: 'begin' }>;

async function attendShow({ port, streamId, viewers }: Begin): Promise<void> {
  const crowd = new Crowd({ hostname: HOSTNAME, port, streamId, viewers, viewerProfileOf });
  const tell = () => process.send?.(crowd.report());
  let telling: Timer | undefined;
  process.on('message', async (message: ToCrowd) => {
    if (message.kind === 'promised') crowd.promised(message.key, message.inMs);
    if (message.kind !== 'finish') return;
    await crowd.finish();
    clearInterval(telling);
    tell();
  });
  await crowd.begin();
  telling = setInterval(tell, REPORT_MS);
  await crowd.letIn();
}

// The demo decides when it is over; Ctrl-C reaches us only by way of the demo.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Nobody to report to: the demo is gone, however it went.
process.on('disconnect', () => process.exit(0));
process.once('message', (message: ToCrowd) => {
  if (message.kind === 'begin') void attendShow(message);
});
