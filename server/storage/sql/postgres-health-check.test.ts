import { expect, test } from 'bun:test';
import { HealthCheck } from './postgres-health-check.ts';

/** The state after each tick: `p` response pending, `r` response received, `-` neither. */
function statesOf(ticks: string): string[] {
  const health = new HealthCheck();
  return [...ticks].map((tick) => {
    if (tick === 'r') health.onResponse();
    return health.tick(tick !== '-');
  });
}

const lastOf = (ticks: string) => statesOf(ticks).at(-1);

test('[N-10] the health check probes after 75 ms of silence, and reports unavailable after 250 ms', () => {
  expect(statesOf('pppppppppp')).toEqual([
    ...['healthy', 'healthy'],
    ...['probe', 'probe', 'probe', 'probe', 'probe', 'probe', 'probe'],
    'unavailable',
  ]);
});

test('the health check starts again after any response', () => {
  expect(lastOf('ppppppppprppppppppp')).toBe('probe');
  expect(lastOf('ppppppppprpppppppppp')).toBe('unavailable');
});

test('the health check counts silence only while a response is pending', () => {
  expect(lastOf(`${'-'.repeat(30)}pp`)).toBe('healthy');
  expect(lastOf('ppppppppp-ppppppppp')).toBe('probe');
});

test('[N-11] the health check probes an idle connection once a second', () => {
  const states = statesOf('-'.repeat(40));
  expect(states.slice(0, 39).every((state) => state === 'healthy')).toBe(true);
  expect(states[39]).toBe('probe');
});
