import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../../server/platform/runtime.ts';
import { Coverage } from './coverage.ts';
import type { FaultKind } from './faults.ts';
import { type Plan, planOf } from './plan.ts';
import { shrinkPlan } from './shrink.ts';
import { type SimulationResult, simulate } from './simulation.ts';
import { openTemplate, type Template } from './template.ts';
import { installSynchronousWebCrypto } from './web-crypto.ts';

/** A seed whose simulation has violations. */
export interface FailedSeed {
  readonly seed: number;
  /** The smallest plan that fails, and its result. */
  readonly plan: Plan;
  readonly result: SimulationResult;
}

export interface SeedReport {
  readonly seeds: number;
  readonly virtualMs: number;
  readonly faults: number;
  readonly requests: number;
  readonly coverage: Coverage;
  readonly failed: readonly FailedSeed[];
  /** Of all responses of all seeds, in hex: `sumOfHashes` of the hashes of the seeds. */
  readonly hash: string;
}

export interface SeedRunOptions {
  readonly from: number;
  readonly seeds: number;
  readonly kinds: readonly FaultKind[];
  /** Stops at this many failed seeds. */
  readonly failuresMax: number;
  readonly onSeed?: (done: number, failures: number) => void;
}

/** Opens what simulations start with. Until it is closed, WebCrypto is synchronous in this process. */
export async function openSimulations(): Promise<Template> {
  const restoreWebCrypto = installSynchronousWebCrypto();
  const template = await openTemplate(mkdtempSync(join(tmpdir(), 'fourbeat-simulation-')));
  return {
    ...template,
    close: () => {
      template.close();
      restoreWebCrypto();
      replaceRuntime(SYSTEM_RUNTIME);
    },
  };
}

/** Simulates seeds one after the other, and shrinks the plans that fail. */
export async function runSeeds(template: Template, options: SeedRunOptions): Promise<SeedReport> {
  const { from, seeds, kinds, failuresMax, onSeed = () => {} } = options;
  const coverage = new Coverage();
  const failed: FailedSeed[] = [];
  const sums = { virtualMs: 0, faults: 0, requests: 0 };
  let hash = '0';
  let done = 0;
  while (done < seeds && failed.length < failuresMax) {
    const plan = planOf(from + done, kinds);
    const result = simulate(plan, template);
    done++;
    sums.virtualMs += result.virtualMs;
    sums.faults += plan.faults.length;
    sums.requests += result.figures.requests;
    coverage.addAll(result.coverage);
    hash = sumOfHashes([hash, result.hash]);
    if (result.violations.length > 0) failed.push(shrink(plan, template));
    onSeed(done, failed.length);
    // The runtime frees responses and streams in its event loop only: 4,300 seeds without it took 1.5 GB.
    await Bun.sleep(0);
  }
  return { seeds: done, ...sums, coverage, failed, hash };
}

/** The sum of the first 64 bits of hashes in hex: the same in any order, so for any number of processes. */
export function sumOfHashes(hashes: readonly string[]): string {
  const numbers = hashes.map((hash) => BigInt(`0x${hash.slice(0, 16)}`));
  const sum = numbers.reduce((total, number) => total + number, 0n);
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
}

function shrink(plan: Plan, template: Template): FailedSeed {
  const smallest = shrinkPlan(
    plan,
    (candidate) => simulate(candidate, template).violations.length > 0,
  );
  return { seed: plan.seed, plan: smallest, result: simulate(smallest, template) };
}

/** A failed seed for people: its plan, and what happened when. */
export function describeFailure({ seed, plan, result }: FailedSeed): string {
  const { isEmbedded, nodes, viewers, faults } = plan;
  const kind = isEmbedded ? 'one process' : `${nodes} nodes`;
  return [
    `seed ${seed}: ${kind}, ${viewers} viewers, ${faults.length} faults after shrinking`,
    ...result.timeline.lines().map((line) => `  ${line}`),
    ...result.violations.slice(0, 20).map((violation) => `  violation: ${violation}`),
  ].join('\n');
}
