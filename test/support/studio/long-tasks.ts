import type { CDPSession, Page } from 'playwright-core';

/** A stretch in which a page could do nothing else. */
export interface LongTask {
  /** How long it took, ms. */
  readonly wallMs: number;
  /** How long the processor was at it, ms: what other programs do at the time is not in it. */
  readonly cpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const TASK = 'ThreadControllerImpl::RunTask';

/**
 * The longest task of a page's main thread while something is done in it. Of several pages in one
 * browser it is the one whose tasks took longest.
 */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<LongTask> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] },
  });
  await work();
  await ended(session);
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(placeOf),
  );
  const tasks = events
    .filter((event) => event.name === TASK && event.ph === 'X' && main.has(placeOf(event)))
    .map(({ dur = 0, tdur = 0 }): LongTask => ({ wallMs: dur / 1_000, cpuMs: tdur / 1_000 }));
  if (tasks.length === 0) throw new Error('the browser told of no task');
  return tasks.reduce((longest, task) => (task.cpuMs > longest.cpuMs ? task : longest));
}

function placeOf({ pid, tid }: TraceEvent): string {
  return `${pid}/${tid}`;
}

async function ended(session: CDPSession): Promise<void> {
  const complete = new Promise<void>((resolve) =>
    session.once('Tracing.tracingComplete', () => resolve()),
  );
  await session.send('Tracing.end');
  await complete;
  await session.detach();
}
