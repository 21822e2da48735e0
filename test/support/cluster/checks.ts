import { MachineLoad } from './machine-load.ts';

/** Collects the violations that a fault run finds. */
export class Checks {
  readonly violations: string[] = [];
  /**
   * Failures of time limits while the machine was overloaded. The service may or may not be the
   * cause, so they are counted and printed, but they are no violations.
   */
  readonly overloadFailures: string[] = [];
  readonly machineLoad: MachineLoad;

  /** @param nodePids the process of each node that runs */
  constructor(nodePids: () => ReadonlyMap<number, number>) {
    this.machineLoad = new MachineLoad(nodePids);
  }

  fail(violation: string): void {
    this.violations.push(violation);
  }

  /** Adds a missed time limit of something that ran between these two moments (Unix ms). */
  failTiming(violation: string, fromMs: number, toMs: number): void {
    const isOverloaded = this.machineLoad.isOverloaded(fromMs, toMs);
    const list = isOverloaded ? this.overloadFailures : this.violations;
    list.push(violation);
  }
}
