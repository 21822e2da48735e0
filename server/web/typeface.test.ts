import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { TYPEFACE_PATH, typefaceRoutes } from './typeface.ts';

const FILES = ['theme.css', 'watch.html', 'start-page.html'].map((name) => `../../player/${name}`);
const STUDIO_FILES = ['studio.html', 'display/display.html'].map((name) => `../../studio/${name}`);
const SIZE_MAX_BYTES = 60 * 1024;

const paths = Object.keys(typefaceRoutes(PAGE_OPTIONS));
const namesIn = (file: string) => {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return [...text.matchAll(/\/player\/typeface\/[^"')]+/g)].map(([path]) => path);
};

test('[O-24] pages name exactly the files of the typeface that the service has', () => {
  expect(namesIn(FILES[0] as string).sort()).toEqual(paths.toSorted());
  for (const file of [...FILES.slice(1), ...STUDIO_FILES]) {
    expect([file, namesIn(file)]).toEqual([file, [paths[0] as string]]);
  }
});

test('[O-24] the typeface has at most 60 KB, and browsers keep it', () =>
  withPageServer(typefaceRoutes(PAGE_OPTIONS), async (origin) => {
    let bytes = 0;
    for (const path of paths) {
      expect(path).toStartWith(TYPEFACE_PATH);
      const response = await fetch(origin + path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'font/woff2']);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const file = Buffer.from(await response.arrayBuffer());
      expect(file.toString('latin1', 0, 4)).toBe('wOF2');
      bytes += file.length;
    }
    expect(bytes).toBeLessThanOrEqual(SIZE_MAX_BYTES);
  }));
