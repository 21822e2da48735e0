import { describe, expect, test } from 'bun:test';
import jsQR from 'jsqr';
import { type QrCodePath, qrCodePath, qrCodeSvg } from './qr-svg.ts';

const SCALE = 4;

/** The modules that a path covers, by an independent reading of its commands. */
function darkModules(path: string): [x: number, y: number][] {
  return [...path.matchAll(/M(\d+) (\d+)h(\d+)/g)].flatMap(([, x, y, length]) =>
    Array.from({ length: Number(length) }, (_, at): [number, number] => [
      Number(x) + at,
      Number(y),
    ]),
  );
}

/** What an independent decoder reads. */
function decoded({ size, path }: QrCodePath): string | undefined {
  const width = size * SCALE;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [x, y] of darkModules(path)) {
    for (let pixel = 0; pixel < SCALE * SCALE; pixel++) {
      const column = x * SCALE + (pixel % SCALE);
      const row = y * SCALE + Math.floor(pixel / SCALE);
      pixels.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
  return jsQR(pixels, width, width, { inversionAttempts: 'dontInvert' })?.data;
}

describe('a QR code', () => {
  test.each([
    'https://live.example/watch/0f8fad5b-d9cb-469f-a165-70867728950e',
    'http://localhost:4250/watch/0f8fad5b-d9cb-469f-a165-70867728950e',
    `https://${'sub.'.repeat(40)}live.example/watch/0f8fad5b-d9cb-469f-a165-70867728950e`,
    'https://bücher.example/Größe',
  ])('[B-17] decodes to %s', (text) => {
    expect(decoded(qrCodePath(text))).toBe(text);
  });

  test('[B-17] has four light modules on each side', () => {
    const { size, path } = qrCodePath('https://live.example/watch/7d2c');
    const dark = darkModules(path).flat();
    expect([Math.min(...dark), Math.max(...dark)]).toEqual([4, size - 5]);
  });

  test('[B-17] as a file is the same path on white', () => {
    const { size, path } = qrCodePath('https://live.example/watch/7d2c');
    const svg = qrCodeSvg('https://live.example/watch/7d2c', 1_024);
    expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`);
    expect(svg).toContain(`<path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/>`);
    expect(svg).toContain(`<path d="${path}"/>`);
  });
});
