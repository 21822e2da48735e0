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

/** A machine, and a service in memory that it can reach. */
export interface World {
  readonly machine: FakeMachine;
  readonly service: MockService;
  /** `METHOD path` of each request. */
  readonly requests: string[];
  join(options?: Partial<JoinOptions>): Viewer;
}

const joined: Viewer[] = [];
/** After each test. */
export function leaveAll(): void {
  for (const viewer of joined.splice(0)) viewer.leave();
}

/** Where a viewer's tabs keep what they did. */
export function storage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
}

export function world(options: FakeMachineOptions = {}, latencyAllowanceMs = 0): World {
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
    join: (more) => {
      const viewer = join({
        baseUrl: 'https://live.example',
        streamId: service.streamId,
        viewerId: 'ada',
        storage: null,
        environment: machine.environment,
        ...more,
      } as JoinOptions);
      joined.push(viewer);
      return viewer;
    },
  };
}
