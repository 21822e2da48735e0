import type { PlannedFault } from './faults.ts';
import type { Plan } from './plan.ts';

/** Simulations that shrinking may take. */
const TRIES_MAX = 60;

/**
 * The smallest plan it finds that still fails: fewer faults, then shorter ones, then fewer viewers.
 * @param fails runs a plan. @returns whether it has a violation
 */
export function shrinkPlan(plan: Plan, fails: (plan: Plan) => boolean): Plan {
  let smallest = plan;
  for (let tries = 0; tries < TRIES_MAX; ) {
    let isSmaller = false;
    for (const candidate of candidatesOf(smallest)) {
      if (++tries > TRIES_MAX) break;
      if (!fails(candidate)) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
    if (!isSmaller) break;
  }
  return smallest;
}

function* candidatesOf(plan: Plan): Generator<Plan> {
  const { faults, viewers } = plan;
  for (const index of faults.keys()) {
    yield { ...plan, faults: faults.filter((_, other) => other !== index) };
  }
  for (const [index, fault] of faults.entries()) {
    if (fault.durationMs < 20) continue;
    const shorter: PlannedFault = { ...fault, durationMs: Math.floor(fault.durationMs / 2) };
    yield { ...plan, faults: faults.map((other, place) => (place === index ? shorter : other)) };
  }
  if (viewers > 1) yield { ...plan, viewers: viewers - 1 };
}
