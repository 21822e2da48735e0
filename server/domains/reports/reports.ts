import type { studioApi } from '../../../protocol/studio-api.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import { ReportMaker, type ReportMakerOptions } from './report-maker.ts';
import { type ReportRoutes, reportHandlers } from './report-routes.ts';

export interface ReportDeps extends Omit<ReportMakerOptions, 'store'> {
  readonly studio: StudioHandlerFactory;
  readonly store: ReportMakerOptions['store'] & ReportRoutes['store'];
}

export interface Reports {
  readonly handlers: Handlers<Pick<typeof studioApi, 'readReport'>>;
  /** Starts to make reports of finished shows; only nodes with the role `studio` do. */
  start(): void;
  /** Makes all reports due now; for tests with a manual clock. */
  makeAll(): Promise<void>;
  /** Releases the current report to other nodes. */
  stop(): Promise<void>;
}

/** Reports of finished shows: the operation that reads them, and the job that makes them (SPEC J). */
export function createReports(deps: ReportDeps): Reports {
  const maker = new ReportMaker(deps);
  return {
    handlers: reportHandlers(deps.studio, deps),
    start: () => maker.start(),
    makeAll: () => maker.makeAll(),
    stop: () => maker.stop(),
  };
}
