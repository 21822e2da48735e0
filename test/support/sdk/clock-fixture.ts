import { ServiceClock } from '../../../sdk/clock.ts';
import { FourbeatError } from '../../../sdk/errors.ts';
import { FakeMachine, type FakeMachineOptions } from './fake-environment.ts';

/** How long a question and its answer are on their way, ms. */
interface Way {
  readonly thereMs: number;
  readonly backMs: number;
}

/** Samples beyond those take as long as the last. */
export function begin(
  ways: readonly (Way | FourbeatError)[] = [{ thereMs: 10, backMs: 10 }],
  options?: FakeMachineOptions,
) {
  const machine = new FakeMachine(options);
  const fromMs = machine.nowMs;
  const { after } = machine.environment;
  const wait = (ms: number) => new Promise<void>((resolve) => after(ms, resolve));
  /** When each sample was asked for, in true ms since the start. */
  const asked: number[] = [];
  /** How far the service's clock is ahead of the true time. */
  const service = { errorMs: 0 };
  const clock = new ServiceClock(machine.environment, async () => {
    const way = ways[Math.min(asked.length, ways.length - 1)] as Way | FourbeatError;
    asked.push(Math.round(machine.nowMs - fromMs));
    if (way instanceof FourbeatError) throw way;
    await wait(way.thereMs);
    const now = Math.floor(machine.nowMs + service.errorMs);
    await wait(way.backMs);
    return now;
  });
  const offMs = () => clock.nowMs() - machine.nowMs - service.errorMs;
  return { machine, clock, asked, service, offMs };
}

export const unavailable = new FourbeatError('away', 'the service is unavailable');
