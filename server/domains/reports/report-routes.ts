import type { Report } from '../../../protocol/report.ts';
import { reportApi } from '../../../protocol/report-api.ts';
import { JsonText } from '../../auth/json-text.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import { ChangedMeanwhile, DomainError } from '../../platform/errors.ts';
import type { Step } from '../../platform/pace.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { streamOf } from '../streams/stream-wire.ts';
import type { StreamRow } from '../streams/streams-sql.ts';
import { type ReportText, type reportProcedures, TRIES_MAX } from './reports-sql.ts';

export interface ReportRoutes {
  readonly context: Pick<StudioContext, 'largeOperations'>;
  readonly store: Pick<Calls<typeof reportProcedures>, 'readReport' | 'readReportPart'>;
}

/** Operation of the studio API that reads the report of a show (SPEC J). */
export function reportHandlers(studio: StudioHandlerFactory, { context, store }: ReportRoutes) {
  return {
    readReport: studio(reportApi.readReport, (call) =>
      context.largeOperations.run(call, (step) => readReport(store, call, step)),
    ),
  };
}

/** @throws DomainError `conflict` before the end of the stream, and for a rehearsal */
async function readReport(
  store: ReportRoutes['store'],
  call: StudioCall,
  step: Step,
): Promise<Report | JsonText> {
  const { stream, text, done, tries } = await step(() => store.readReport(ownStreamInput(call)));
  if (stream.status !== 'ENDED') {
    const detail = 'The stream has not ended; its report is made after the end.';
    throw new DomainError('conflict', detail);
  }
  if (stream.rehearsalOf !== null) throw new DomainError('conflict', 'A rehearsal has no report.');
  if (!text) return tries > TRIES_MAX ? { state: 'failed' } : { state: 'working', done };
  const [first = '', ...others] = await readParts(store, stream.id, text, step);
  return new JsonText([startOf(stream, call.origin), first.slice(1), ...others]);
}

/** @throws Unavailable when the report is made again meanwhile */
async function readParts(
  store: ReportRoutes['store'],
  streamId: string,
  text: ReportText,
  step: Step,
): Promise<string[]> {
  const texts: string[] = [];
  for (let part = 0; part < text.parts; part++) {
    const partText = await step(() => store.readReportPart({ streamId, part, ...text }));
    if (partText === null) throw new ChangedMeanwhile('The report is being made again; try again.');
    texts.push(partText);
  }
  return texts;
}

/** The JSON of a report up to its stored members. */
function startOf(stream: StreamRow, origin: string): string {
  // Without our own recording, the producer's HLS address is the one to play.
  const isPlayable = stream.recording || stream.hlsUrl !== null;
  const hls_url = isPlayable ? streamOf(stream, origin).hls_url : null;
  return `{"state":"ready","recording":${JSON.stringify({ hls_url })},`;
}
