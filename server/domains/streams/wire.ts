import type { Stream } from '../../../protocol/streams.ts';
import type { StreamRow } from './streams-sql.ts';

/**
 * A stream as viewers see it; without addresses of its own it plays from this service.
 * @param origin where this service is reached, without a trailing slash
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
