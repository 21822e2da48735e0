import { studioApi } from '../../protocol/studio-api.ts';

/** The operations that export parts of a show. */
export const EXPORTS = [
  'exportResults',
  'exportAnswers',
  'exportWinners',
  'exportContacts',
  'exportAudience',
  'exportChat',
  'exportFeed',
] as const;

export const FORMATS = ['csv', 'ndjson'] as const;

export function exportUrl(
  name: (typeof EXPORTS)[number],
  streamId: string,
  format: (typeof FORMATS)[number],
): string {
  return `${studioApi[name].path.replace('{stream_id}', streamId)}?format=${format}`;
}
