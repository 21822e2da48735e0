import type { StudioContext, StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { ReportMaker, type ReportMakerOptions } from './report-maker.ts';
import { type ReportRoutes, reportHandlers } from './report-routes.ts';

export interface ReportDeps extends Omit<ReportMakerOptions, 'store'> {
  readonly studio: StudioHandlerFactory;
  readonly context: Pick<StudioContext, 'largeOperations'>;
  readonly store: ReportMakerOptions['store'] & ReportRoutes['store'];
}

/** Reports of finished shows: the operation that reads them, and the job that makes them (SPEC J). */
export function createReports(deps: ReportDeps) {
  return { handlers: reportHandlers(deps.studio, deps), maker: new ReportMaker(deps) };
}
