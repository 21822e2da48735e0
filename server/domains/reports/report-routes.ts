import type { Report } from '../../../protocol/report.ts';
import { reportApi } from '../../../protocol/report-api.ts';
import type { Store } from '../../app/procedures.ts';
import { ofStream, type StudioWrapper } from '../../auth/studio-operation.ts';
import type { Handlers } from '../../http/route.ts';
import { Refusal } from '../../platform/errors.ts';
import { streamOf } from '../streams/wire.ts';
import { type ReportRow, TRIES_MAX } from './reports-sql.ts';

export interface ReportRoutes {
  readonly store: Pick<Store, 'readReport'>;
}

/** What a show was (SPEC J). */
export function reportHandlers(
  studio: StudioWrapper,
  { store }: ReportRoutes,
): Handlers<Pick<typeof reportApi, 'readReport'>> {
  return {
    readReport: studio(reportApi.readReport, async (call) =>
      reportAt(await store.readReport(ofStream(call)), call.origin),
    ),
  };
}

/** @throws Refusal `conflict` before the end of the stream */
function reportAt({ stream, report, done, tries }: ReportRow, origin: string): Report {
  if (stream.status !== 'ENDED') {
    throw new Refusal('conflict', 'The stream has not ended; there is a report once it has.');
  }
  if (stream.rehearsalOf !== null) throw new Refusal('conflict', 'A rehearsal has no report.');
  if (!report) return tries > TRIES_MAX ? { state: 'failed' } : { state: 'working', done };
  // Without a recording of this service, what an address of the producer's own plays is the producer's.
  const plays = stream.recording || stream.hlsUrl !== null;
  const hls_url = plays ? streamOf(stream, origin).hls_url : null;
  return { state: 'ready', ...report, recording: { hls_url } };
}
