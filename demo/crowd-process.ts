import { Crowd } from '../crowd/crowd.ts';
import type { CrowdCommand } from '../crowd/messages.ts';
import { viewerProfileOf } from '../crowd/viewer-profile.ts';

// The simulated viewers of the demo run in their own process, so that on two cores their load does not
// slow the service.

const HOSTNAME = '127.0.0.1';
const REPORT_MS = 250;

type StartCommand = Extract<CrowdCommand, { kind: 'start' }>;

async function attendShow({ port, streamId, viewers }: StartCommand): Promise<void> {
  const crowd = new Crowd({ hostname: HOSTNAME, port, streamId, viewers, viewerProfileOf });
  const report = () => process.send?.(crowd.report());
  let reportTimer: Timer | undefined;
  process.on('message', async (message: CrowdCommand) => {
    if (message.kind === 'expect-event') crowd.expectEvent(message.key, message.inMs);
    if (message.kind !== 'finish') return;
    await crowd.finish();
    clearInterval(reportTimer);
    report();
  });
  await crowd.start();
  reportTimer = setInterval(report, REPORT_MS);
  await crowd.admitViewers();
}

// Ignore signals: the demo ends this process over IPC.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// The IPC channel closes when the demo exits.
process.on('disconnect', () => process.exit(0));
process.once('message', (message: CrowdCommand) => {
  if (message.kind === 'start') void attendShow(message);
});
