import type { CDPSession, Page } from 'playwright-core';

/** A task that blocked the main thread. */
export interface LongTask {
  /** Duration, ms. */
  readonly wallMs: number;
  /** CPU time, ms; excludes other programs. */
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
 * The main thread task of a page with the most CPU time during an action. With several pages in the
 * browser, the maximum of all.
 */
export async function longestTask(page: Page, action: () => Promise<void>): Promise<LongTask> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] },
  });
  try {
    await action();
  } finally {
    await stopTracing(session);
  }
  const main = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = events
    .filter((event) => event.name === TASK && event.ph === 'X' && main.has(threadOf(event)))
    .map(({ dur = 0, tdur = 0 }): LongTask => ({ wallMs: dur / 1_000, cpuMs: tdur / 1_000 }));
  if (tasks.length === 0) throw new Error('the trace has no tasks');
  return tasks.reduce((longest, task) => (task.cpuMs > longest.cpuMs ? task : longest));
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid}/${tid}`;
}

async function stopTracing(session: CDPSession): Promise<void> {
  const complete = new Promise<void>((resolve) =>
    session.once('Tracing.tracingComplete', () => resolve()),
  );
  await session.send('Tracing.end');
  await complete;
  await session.detach();
}
