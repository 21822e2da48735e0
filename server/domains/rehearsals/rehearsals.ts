import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { type RehearsalRoutes, rehearsalHandlers } from './rehearsal-routes.ts';
import { RehearsalRunner, type RehearsalRunnerOptions } from './rehearsal-runner.ts';

export interface RehearsalDeps extends Omit<RehearsalRunnerOptions, 'store' | 'node'> {
  readonly studio: StudioHandlerFactory;
  readonly store: RehearsalRoutes['store'] & RehearsalRunnerOptions['store'];
  readonly largeOperations: RehearsalRoutes['largeOperations'];
  readonly newId: () => string;
}

/** Rehearsals: the studio API for them, and the simulated viewers of this node (SPEC Y). */
export function createRehearsals(deps: RehearsalDeps) {
  const runner = new RehearsalRunner({ ...deps, node: deps.newId() });
  return { handlers: rehearsalHandlers(deps.studio, { ...deps, runner }), runner };
}
