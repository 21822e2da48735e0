import { Machine } from './machine.ts';

/** What was found wrong with a service. */
export class Judgement {
  readonly violations: string[] = [];
  /**
   * What came too late while the cores of the machine were taken all the time: it may be the
   * service's fault or not. It is counted and shown, and no violation.
   */
  readonly excused: string[] = [];
  readonly machine = new Machine();

  /** Notes a violation. */
  wrong(violation: string): void {
    this.violations.push(violation);
  }

  /** Notes that something was not done in time, which ran between these moments. */
  late(violation: string, fromMs: number, toMs: number): void {
    const list = this.machine.isOverloaded(fromMs, toMs) ? this.excused : this.violations;
    list.push(violation);
  }
}
