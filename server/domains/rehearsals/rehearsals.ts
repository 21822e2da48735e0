import type { rehearsalApi } from '../../../protocol/rehearsal-api.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import type { MetricDefinition } from '../../platform/metrics.ts';
import { type RehearsalRoutes, rehearsalHandlers } from './rehearsal-routes.ts';
import { RehearsalRunner, type RehearsalRunnerOptions } from './rehearsal-runner.ts';

export interface RehearsalDeps extends Omit<RehearsalRunnerOptions, 'store' | 'node'> {
  readonly studio: StudioHandlerFactory;
  readonly store: RehearsalRoutes['store'] & RehearsalRunnerOptions['store'];
  readonly newId: () => string;
}

export interface Rehearsals {
  readonly handlers: Handlers<typeof rehearsalApi>;
  readonly metrics: readonly MetricDefinition[];
  /** Starts to remove data of old rehearsals; only nodes with the role `studio` do. */
  start(): void;
  /** Ends the viewers of all rehearsals on this node. */
  stop(): void;
}

/** Rehearsals: the studio API for them, and the simulated viewers of this node (SPEC Y). */
export function createRehearsals(deps: RehearsalDeps): Rehearsals {
  const runner = new RehearsalRunner({ ...deps, node: deps.newId() });
  return {
    handlers: rehearsalHandlers(deps.studio, { ...deps, runner }),
    metrics: runner.metrics,
    start: () => runner.start(),
    stop: () => runner.stop(),
  };
}
