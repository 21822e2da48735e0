import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { intervalAt } from '../../../protocol/interval.ts';
import { readPicture } from '../../../test/support/media/read-test-picture.ts';
import { testPictureArguments } from './play-arguments.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import { TestPicture } from './test-picture.ts';

// Until 2049, when the interval number gets an eleventh digit.
const times = fc.integer({ min: 1_700_000_000_000, max: 2_499_999_999_999 });
const sizes = fc
  .tuple(fc.integer({ min: 80, max: 400 }), fc.integer({ min: 45, max: 300 }))
  .map(([width, height]) => ({ width: 2 * width, height: 2 * height }));
const titles = fc.oneof(fc.constant('The demo'), fc.string({ maxLength: 80 }));

/** Downscales a plane: each pixel is the mean of those that it covers. */
function scaled(luma: Uint8Array, from: Size, to: Size): Uint8Array {
  const small = new Uint8Array(to.width * to.height);
  for (let y = 0; y < to.height; y++) {
    const [top, bottom] = covered(y, to.height, from.height);
    for (let x = 0; x < to.width; x++) {
      const [left, right] = covered(x, to.width, from.width);
      let sum = 0;
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
          sum += luma[row * from.width + column] ?? 0;
        }
      }
      small[y * to.width + x] = sum / ((bottom - top) * (right - left));
    }
  }
  return small;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function covered(index: number, of: number, pixels: number): [number, number] {
  return [Math.floor((index * pixels) / of), Math.ceil(((index + 1) * pixels) / of)];
}

/** Converts limited-range luma to RGBA, as a canvas does. */
function rgbaOf(luma: Uint8Array): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(luma.length * 4);
  for (const [index, y] of luma.entries()) {
    const luma = ((y - 16) * 255) / 219;
    pixels.set([luma, luma, luma, 255], index * 4);
  }
  return pixels;
}

describe('the test picture', () => {
  test('[M-45] the test picture contains its time and interval at every size', () => {
    fc.assert(
      fc.property(sizes, titles, times, (size, title, unixMs) => {
        const data = new TestPicture({ ...size, title }).draw(unixMs);
        const reading = { unixMs, interval: intervalAt(unixMs) };
        expect(readPicture({ ...size, data, format: 'luma' })).toEqual(reading);
      }),
    );
  });

  test('[M-45] the test picture can be read in all renditions, from luma and from a canvas', () => {
    fc.assert(
      fc.property(sizes, times, fc.constantFrom(2, 3), (size, unixMs, divisor) => {
        const luma = new TestPicture({ ...size, title: '' })
          .draw(unixMs)
          .subarray(0, size.width * size.height);
        const to = {
          width: 2 * Math.round(size.width / divisor / 2),
          height: 2 * Math.round(size.height / divisor / 2),
        };
        const small = scaled(luma, size, to);
        expect(readPicture({ ...to, data: small, format: 'luma' })?.unixMs).toBe(unixMs);
        expect(readPicture({ ...to, data: rgbaOf(small), format: 'rgba' })?.unixMs).toBe(unixMs);
      }),
      { numRuns: 40 },
    );
  });

  test('[M-45] the test picture depends on its time alone, not on earlier frames', () => {
    fc.assert(
      fc.property(sizes, fc.array(times, { minLength: 1, maxLength: 5 }), (size, all) => {
        const long = new TestPicture({ ...size, title: 'Quiz night' });
        for (const unixMs of all) long.draw(unixMs);
        const fresh = new TestPicture({ ...size, title: 'Quiz night' });
        const last = all.at(-1) as number;
        expect(Buffer.compare(long.draw(last), fresh.draw(last))).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test('[M-45] the test picture changes with every frame above the time code too', () => {
    const size = { width: 640, height: 360 };
    const above = 640 * 290;
    const picture = new TestPicture({ ...size, title: '' });
    let before = picture.draw(1_795_190_400_000).slice(0, above);
    for (let frame = 1; frame < 25; frame++) {
      const now = picture.draw(1_795_190_400_000 + frame * 40).slice(0, above);
      expect(Buffer.compare(before, now)).not.toBe(0);
      before = now;
    }
  });

  test('the test picture shows a title without accents, and omits one that the font lacks', () => {
    const frame = (title: string) =>
      new TestPicture({ width: 640, height: 360, title }).draw(1_795_190_400_000);
    expect(frame('Škoda Café')).toEqual(frame('SKODA CAFE'));
    expect(frame('Škoda Café')).not.toEqual(frame(''));
    expect(frame('夜のクイズ')).toEqual(frame(''));
    expect(frame('x'.repeat(500))).not.toEqual(frame(''));
  });
});

describe('the reader rejects', () => {
  test.each([
    ['black', () => 16],
    ['white', () => 235],
    ['grey', () => 128],
    ['a gradient', (index: number) => index % 256],
    ['stripes', (index: number) => (index % 16 < 8 ? 16 : 235)],
  ])('the reader rejects a frame of %s', (_, luma) => {
    const size = { width: 320, height: 180 };
    const data = Uint8Array.from({ length: 320 * 180 }, (_, index) => luma(index));
    expect(readPicture({ ...size, data, format: 'luma' })).toBeNull();
  });

  test('the reader rejects missing or empty pixel data', () => {
    const size = { width: 320, height: 180 };
    expect(readPicture({ ...size, data: new Uint8Array(99), format: 'luma' })).toBeNull();
    expect(
      readPicture({ width: 0, height: 0, data: new Uint8Array(0), format: 'rgba' }),
    ).toBeNull();
  });

  test('the reader rejects a code with one flipped cell', () => {
    const size = { width: 640, height: 360 };
    fc.assert(
      fc.property(times, fc.nat({ max: 25 }), fc.nat({ max: 1 }), (unixMs, column, row) => {
        const luma = new TestPicture({ ...size, title: '' }).draw(unixMs).slice(0, 640 * 360);
        const middle = Math.round((column + 0.5) * (640 / 26));
        const isWhite = (luma[(315 + 30 * row) * 640 + middle] ?? 0) > 128;
        for (let y = 300 + 30 * row; y < 330 + 30 * row; y++) {
          luma.fill(isWhite ? 16 : 235, y * 640 + middle - 12, y * 640 + middle + 12);
        }
        expect(readPicture({ ...size, data: luma, format: 'luma' })).toBeNull();
      }),
      { numRuns: 60 },
    );
  });
});

test('the reader runs in a browser: it uses no platform API', async () => {
  const built = await Bun.build({
    entrypoints: [
      fileURLToPath(new URL('../../../test/support/media/read-test-picture.ts', import.meta.url)),
    ],
    target: 'browser',
  });
  const text = (await built.outputs[0]?.text()) ?? '';
  expect(text).toContain('readPicture');
  expect(text).not.toMatch(/\b(?:import|require|process|Buffer|Bun)\b/);
});

describe('the encoded test picture', () => {
  const FRAMES = 30;
  const beginMs = 1_795_190_399_500;

  /** Luma of each frame after the encoders of the test picture and of a rendition. */
  async function renditionOf(from: Size, to: Size): Promise<Uint8Array[]> {
    const plain = ['-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1'];
    const encoder = start(testPictureArguments(25));
    const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '36', '-f', 'matroska'];
    const scale = ['-vf', `scale=${to.width}:${to.height}`];
    const rendition = start(['-v', 'error', '-i', 'pipe:0', '-an', ...scale, ...x264, 'pipe:1']);
    const decoder = start(['-v', 'error', '-i', 'pipe:0', ...plain]);
    const piped = [
      encoder.stdout.pipeTo(sinkOf(rendition)),
      rendition.stdout.pipeTo(sinkOf(decoder)),
    ];
    const picture = new TestPicture({ ...from, title: 'The demo' });
    encoder.stdin.write(rawHeader(from.width, from.height, 25));
    for (let frame = 0; frame < FRAMES; frame++) {
      const pixels = picture.draw(beginMs + frame * 40);
      const silence = new Uint8Array(48 * 40 * 2);
      for (const piece of rawCluster(frame * 40, pixels, frame * 40, silence)) {
        encoder.stdin.write(piece);
      }
      await encoder.stdin.flush();
    }
    void encoder.stdin.end();
    const bytes = await new Response(decoder.stdout).bytes();
    await Promise.all(piped);
    const length = to.width * to.height;
    return Array.from({ length: bytes.length / length }, (_, frame) =>
      bytes.subarray(frame * length, (frame + 1) * length),
    );
  }

  function sizeOf([width = 0, height = 0]: readonly number[]): Size {
    return { width, height };
  }

  function start(args: readonly string[]) {
    return Bun.spawn(['ffmpeg', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  function sinkOf({ stdin }: ReturnType<typeof start>): WritableStream<Uint8Array> {
    return new WritableStream({
      write: async (chunk) => {
        stdin.write(chunk);
        await stdin.flush();
      },
      close: async () => void (await stdin.end()),
    });
  }

  test.each([
    ['640x360', [640, 360], [214, 120]],
    ['426x240', [426, 240], [142, 80]],
    ['192x108', [192, 108], [64, 36]],
  ])(
    '[M-45] the encoded test picture at %s can be read in the lowest rendition at low quality',
    async (_, sentSize, shownSize) => {
      const to = sizeOf(shownSize);
      const frames = await renditionOf(sizeOf(sentSize), to);
      const read = frames.map((data) => readPicture({ ...to, data, format: 'luma' })?.unixMs);
      expect(read).toEqual(Array.from({ length: FRAMES }, (_, frame) => beginMs + frame * 40));
    },
  );
});
