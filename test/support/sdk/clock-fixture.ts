import { ServiceClock } from '../../../sdk/clock.ts';
import { FourbeatError } from '../../../sdk/errors.ts';
import { FakeMachine, type FakeMachineOptions } from './fake-environment.ts';

/** Network delay of a request and its response, ms. */
interface NetworkDelay {
  readonly requestMs: number;
  readonly responseMs: number;
}

/** @param delays network delay, or error, of each sample; the last one repeats */
export function createClockFixture(
  delays: readonly (NetworkDelay | FourbeatError)[] = [{ requestMs: 10, responseMs: 10 }],
  options?: FakeMachineOptions,
) {
  const machine = new FakeMachine(options);
  const startMs = machine.nowMs;
  /** Time of each sample request, true ms since the start. */
  const sampledAtMs: number[] = [];
  /** Error of the service's clock: ms ahead of true time. */
  const service = { errorMs: 0 };
  const clock = new ServiceClock(machine.environment, async () => {
    const delay = delays[sampledAtMs.length] ?? delays.at(-1);
    sampledAtMs.push(Math.round(machine.nowMs - startMs));
    if (!delay || delay instanceof FourbeatError) throw delay;
    await machine.wait(delay.requestMs);
    const now = Math.floor(machine.nowMs + service.errorMs);
    await machine.wait(delay.responseMs);
    return now;
  });
  /** How far the clock is ahead of the service's, ms. */
  const aheadMs = () => clock.nowMs() - machine.nowMs - service.errorMs;
  return { machine, clock, sampledAtMs, service, aheadMs };
}

export const unavailable = new FourbeatError('unavailable', 'the service is unavailable');
