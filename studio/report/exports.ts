import { studioApi } from '../../protocol/studio-api.ts';

/** The exports of a show, by operation. */
export const EXPORTS = [
  { name: 'exportResults', title: 'Results', description: 'Counts for each choice of each quiz' },
  { name: 'exportAnswers', title: 'Answers', description: 'Each answer with viewer and time' },
  {
    name: 'exportWinners',
    title: 'Winners',
    description: 'The winners of each round by name and code',
  },
  { name: 'exportAudience', title: 'Audience', description: 'Viewer count for each second' },
  { name: 'exportChat', title: 'Chat', description: 'Every message that viewers received' },
  { name: 'exportFeed', title: 'Feed', description: 'Every event that viewers received' },
] as const;

export const FORMATS = ['csv', 'ndjson'] as const;

export function exportUrl(
  name: (typeof EXPORTS)[number]['name'],
  streamId: string,
  format: (typeof FORMATS)[number],
): string {
  return `${studioApi[name].path.replace('{stream_id}', streamId)}?format=${format}`;
}
