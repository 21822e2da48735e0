import { AsyncLocalStorage } from 'node:async_hooks';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';

/** I-7: a caller gets a 503 in under a second. */
const BUDGET_MS = 800;

interface Budget {
  leftMs: number;
  /** The request has its response. Work that it started may go on, without this budget. */
  isOver: boolean;
}

const budgets = new AsyncLocalStorage<Budget>();

/**
 * Runs a request that calls the database several times: its calls have as much time together as one call
 * has, without the time between them, in which a client may send a body.
 */
export async function withinBudget<T>(work: () => Promise<T>): Promise<T> {
  const budget = { leftMs: BUDGET_MS, isOver: false };
  try {
    return await budgets.run(budget, work);
  } finally {
    budget.isOver = true;
  }
}

/**
 * Waits for work that goes on in a call of other requests, too, such as a batch.
 * @param startMs when the first call of the request began, on the monotonic clock
 * @throws Unavailable when the request has used the time of one call
 */
export function untilBudgetEnds<T>(startMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new Unavailable('The database did not answer in time.'));
    const leftMs = startMs + BUDGET_MS - runtime.monotonicMs();
    const timer = runtime.setTimeout(expire, Math.max(0, leftMs));
    work.then(resolve, reject).finally(() => runtime.clearTimer(timer));
  });
}

/** The time of a call that begins now. */
export interface CallTime {
  readonly limitMs: number;
  /** Whether calls before have used a part of it. */
  readonly isShortened: boolean;
  /** Call it when the call has ended. */
  readonly end: () => void;
}

export function startCallTime(): CallTime {
  const budget = budgets.getStore();
  if (!budget || budget.isOver) return WITHOUT_BUDGET;
  const startMs = runtime.monotonicMs();
  return {
    limitMs: Math.max(0, budget.leftMs),
    isShortened: budget.leftMs < BUDGET_MS,
    end: () => {
      budget.leftMs -= runtime.monotonicMs() - startMs;
    },
  };
}

const WITHOUT_BUDGET: CallTime = { limitMs: BUDGET_MS, isShortened: false, end: () => {} };
