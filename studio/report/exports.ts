import { studioApi } from '../../protocol/studio-api.ts';

/** The files of a show, as operations name them. */
export const EXPORTS = [
  { name: 'exportResults', title: 'Results', about: 'each choice of each quiz' },
  { name: 'exportAnswers', title: 'Answers', about: 'who answered what, and when' },
  { name: 'exportWinners', title: 'Winners', about: 'who reported to each round' },
  { name: 'exportAudience', title: 'Audience', about: 'how many, each second' },
  { name: 'exportChat', title: 'Chat', about: 'every line that viewers got' },
  { name: 'exportFeed', title: 'Feed', about: 'everything that viewers were sent' },
] as const;

export const FORMATS = ['csv', 'ndjson'] as const;

/** Where a file of a show is. */
export function exportUrl(
  name: (typeof EXPORTS)[number]['name'],
  streamId: string,
  format: (typeof FORMATS)[number],
): string {
  return `${studioApi[name].path.replace('{stream_id}', streamId)}?format=${format}`;
}
