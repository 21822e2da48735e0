import type { Ingest } from '../../../protocol/ingest.ts';
import type { Stream } from '../../../protocol/streams.ts';
import type { StudioStream } from '../../../protocol/studio.ts';
import { type IngestAddresses, ingestUrls } from '../../media/ingest/ingest-addresses.ts';
import type { IngestRow } from '../../media/ingest/ingest-sql.ts';
import type { StreamRow } from './streams-sql.ts';

/**
 * A stream as viewers see it. Streams without media URLs of their own play from this service.
 * @param origin the origin of this service, without a trailing slash
 */
export function streamOf(row: StreamRow, origin: string): Stream {
  return {
    id: row.id,
    producer: row.producer,
    dash_url: row.dashUrl ?? `${origin}/media/${row.id}/manifest.mpd`,
    hls_url: row.hlsUrl ?? `${origin}/media/${row.id}/master.m3u8`,
    status: row.status,
  };
}

/** A stream as its producer sees it (SPEC P-9). @param origin as in `streamOf` */
export function studioStreamOf(row: StreamRow, origin: string): StudioStream {
  return {
    ...streamOf(row, origin),
    title: row.title,
    unlisted: row.unlisted,
    latencyAllowance: row.latencyAllowanceMs,
    recording: row.recording,
    autoStart: row.autoStart,
    keepOpen: row.keepOpen,
    ...row.showPage,
    created: row.created,
    started: row.started,
    ended: row.ended,
    endsAt: row.endsAt,
    rehearsalOf: row.rehearsalOf,
  };
}

/** A stream's ingest URLs, key and connected source (SPEC M-1). @param origin as in `streamOf` */
export function ingestOf(
  id: string,
  { key, source, sourceEndsAt }: IngestRow,
  origin: string,
  addresses: IngestAddresses,
): Ingest {
  return { key, ...ingestUrls({ id, key }, origin, addresses), source, sourceEndsAt };
}
