import type { StreamRow } from '../streams/streams-sql.ts';

const TITLE_LENGTH_MAX = 60;

/**
 * `Content-Disposition` of a downloaded file with title and date of the show, such as
 * `quiz-night-2026-11-23-answers.csv` (RFC 6266; other letters than ASCII as in RFC 5987).
 * @param kind what the file has
 * @param format the ending of its name
 */
export function attachmentHeader(
  { title, started, created }: Pick<StreamRow, 'title' | 'started' | 'created'>,
  kind: string,
  format: string,
): string {
  const date = new Date(started ?? created).toISOString().slice(0, 10);
  const nameOf = (slug: string) => `${slug ? `${slug}-` : ''}${date}-${kind}.${format}`;
  const full = slugOf(title.normalize('NFC'), /[^\p{L}\p{M}\p{N}]+/gu);
  const ascii = slugOf(title.normalize('NFKD').replace(/\p{M}/gu, ''), /[^a-z0-9]+/g);
  const header = `attachment; filename="${nameOf(ascii)}"`;
  return full === ascii
    ? header
    : `${header}; filename*=UTF-8''${encodeURIComponent(nameOf(full))}`;
}

function slugOf(title: string, separators: RegExp): string {
  const slug = title.toLowerCase().replace(separators, '-');
  return Array.from(slug)
    .slice(0, TITLE_LENGTH_MAX)
    .join('')
    .replace(/^-+|-+$/g, '');
}
