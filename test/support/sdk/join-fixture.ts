import { expect } from 'bun:test';
import { join } from '../../../sdk/join.ts';
import type { JoinOptions } from '../../../sdk/join-options.ts';
import { type MockService, mockService } from '../../../sdk/mock/mock-service.ts';
import type { Viewer } from '../../../sdk/viewer.ts';
import { FakeMachine, type FakeMachineOptions } from './fake-environment.ts';

export const QUIZ = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter'],
  answer: 'Jupiter',
  durationMs: 5_000,
};

/** A fake machine, connected to a mock service. */
export interface JoinFixture {
  readonly machine: FakeMachine;
  readonly service: MockService;
  /** `METHOD path` of each request. */
  readonly requests: string[];
  join(options?: Partial<JoinOptions>): Viewer;
}

const joined: Viewer[] = [];
/** Call it after each test. */
export function leaveAll(): void {
  for (const viewer of joined.splice(0)) viewer.leave();
}

/** Expects no request in the next 10 minutes, and no timer after them. */
export async function expectSilence({
  machine,
  requests,
}: Pick<JoinFixture, 'machine' | 'requests'>): Promise<void> {
  await machine.settle();
  requests.length = 0;
  await machine.advance(10 * 60_000);
  expect(requests).toEqual([]);
  expect(machine.pendingTimers).toBe(0);
}

/** Storage that a viewer's tabs share. */
export function createStorage() {
  const entries = new Map<string, string>();
  return {
    entries,
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
  };
}

export function createJoinFixture(
  options: FakeMachineOptions = {},
  latencyAllowanceMs = 0,
): JoinFixture {
  const requests: string[] = [];
  const machine: FakeMachine = new FakeMachine({
    ...options,
    fetch: (url, init) => {
      requests.push(`${init?.method ?? 'GET'} ${new URL(url).pathname}`);
      return service.fetch(url, init);
    },
  });
  const service: MockService = mockService({
    now: () => machine.nowMs,
    after: machine.environment.after,
    latencyAllowanceMs,
  });
  return {
    machine,
    service,
    requests,
    join: (overrides) => {
      const viewer = join({
        baseUrl: 'https://live.example',
        streamId: service.streamId,
        viewerId: 'ada',
        storage: null,
        environment: machine.environment,
        ...overrides,
      } as JoinOptions);
      joined.push(viewer);
      return viewer;
    },
  };
}
