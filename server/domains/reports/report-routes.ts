import type { Report } from '../../../protocol/report.ts';
import { reportApi } from '../../../protocol/report-api.ts';
import { ownStreamInput, type StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { streamOf } from '../streams/stream-wire.ts';
import { type ReportRow, type reportProcedures, TRIES_MAX } from './reports-sql.ts';

export interface ReportRoutes {
  readonly store: Pick<Calls<typeof reportProcedures>, 'readReport'>;
}

/** Operation of the studio API that reads the report of a show (SPEC J). */
export function reportHandlers(studio: StudioHandlerFactory, { store }: ReportRoutes) {
  return {
    readReport: studio(
      reportApi.readReport,
      async (call) => reportBody(await store.readReport(ownStreamInput(call)), call.origin),
      { isLarge: true },
    ),
  };
}

/** @throws DomainError `conflict` before the end of the stream */
function reportBody({ stream, report, done, tries }: ReportRow, origin: string): Report {
  if (stream.status !== 'ENDED') {
    const detail = 'The stream has not ended; its report is made after the end.';
    throw new DomainError('conflict', detail);
  }
  if (stream.rehearsalOf !== null) throw new DomainError('conflict', 'A rehearsal has no report.');
  if (!report) return tries > TRIES_MAX ? { state: 'failed' } : { state: 'working', done };
  // Without our own recording, the producer's HLS address is the one to play.
  const isPlayable = stream.recording || stream.hlsUrl !== null;
  const hls_url = isPlayable ? streamOf(stream, origin).hls_url : null;
  return { state: 'ready', ...report, recording: { hls_url } };
}
