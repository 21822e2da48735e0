import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { intervalAt } from '../../../protocol/interval.ts';
import { readPicture } from '../../../test/support/media/read-test-picture.ts';
import { pictureArguments } from './play-arguments.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import { TestPicture } from './test-picture.ts';

// Until the interval number has eleven digits, in 2049.
const moments = fc.integer({ min: 1_700_000_000_000, max: 2_499_999_999_999 });
const sizes = fc
  .tuple(fc.integer({ min: 80, max: 400 }), fc.integer({ min: 45, max: 300 }))
  .map(([width, height]) => ({ width: 2 * width, height: 2 * height }));
const titles = fc.oneof(fc.constant('The demo'), fc.string({ maxLength: 80 }));

/** A picture of a plane, made smaller: each pixel is the mean of those that it covers. */
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

function covered(place: number, of: number, pixels: number): [number, number] {
  return [Math.floor((place * pixels) / of), Math.ceil(((place + 1) * pixels) / of)];
}

/** The same light as a canvas would give it. */
function rgbaOf(luma: Uint8Array): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(luma.length * 4);
  for (const [place, y] of luma.entries()) {
    const light = ((y - 16) * 255) / 219;
    pixels.set([light, light, light, 255], place * 4);
  }
  return pixels;
}

describe('the test picture', () => {
  test('[M-45] says its moment and interval, at every size', () => {
    fc.assert(
      fc.property(sizes, titles, moments, (size, title, unixMs) => {
        const data = new TestPicture({ ...size, title }).draw(unixMs);
        const reading = { unixMs, interval: intervalAt(unixMs) };
        expect(readPicture({ ...size, data, format: 'luma' })).toEqual(reading);
      }),
    );
  });

  test('[M-45] is read in all renditions, from luma as from a canvas', () => {
    fc.assert(
      fc.property(sizes, moments, fc.constantFrom(2, 3), (size, unixMs, divisor) => {
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

  test('[M-45] is the same for the same moment, whatever was drawn before', () => {
    fc.assert(
      fc.property(sizes, fc.array(moments, { minLength: 1, maxLength: 5 }), (size, all) => {
        const long = new TestPicture({ ...size, title: 'Quiz night' });
        for (const unixMs of all) long.draw(unixMs);
        const fresh = new TestPicture({ ...size, title: 'Quiz night' });
        const last = all.at(-1) as number;
        expect(Buffer.compare(long.draw(last), fresh.draw(last))).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test('[M-45] moves from frame to frame above its strip too, so that a freeze is seen', () => {
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

  test('shows a title whose letters it has, without accents, and leaves out any other', () => {
    const frame = (title: string) =>
      new TestPicture({ width: 640, height: 360, title }).draw(1_795_190_400_000);
    expect(frame('Škoda Café')).toEqual(frame('SKODA CAFE'));
    expect(frame('Škoda Café')).not.toEqual(frame(''));
    expect(frame('夜のクイズ')).toEqual(frame(''));
    expect(frame('x'.repeat(500))).not.toEqual(frame(''));
  });
});

describe('what is no test picture', () => {
  test.each([
    ['black', () => 16],
    ['white', () => 235],
    ['grey', () => 128],
    ['a slope', (place: number) => place % 256],
    ['stripes', (place: number) => (place % 16 < 8 ? 16 : 235)],
  ])('%s is not read', (_, light) => {
    const size = { width: 320, height: 180 };
    const data = Uint8Array.from({ length: 320 * 180 }, (_, place) => light(place));
    expect(readPicture({ ...size, data, format: 'luma' })).toBeNull();
  });

  test('pixels that are missing, or no pixels at all', () => {
    const size = { width: 320, height: 180 };
    expect(readPicture({ ...size, data: new Uint8Array(99), format: 'luma' })).toBeNull();
    expect(
      readPicture({ width: 0, height: 0, data: new Uint8Array(0), format: 'rgba' }),
    ).toBeNull();
  });

  test('a cell that is another is noticed', () => {
    const size = { width: 640, height: 360 };
    fc.assert(
      fc.property(moments, fc.nat({ max: 25 }), fc.nat({ max: 1 }), (unixMs, column, row) => {
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

test('the reader runs in a page: it is made of nothing but the language', async () => {
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

describe('encoded', () => {
  const FRAMES = 30;
  const beginMs = 1_795_190_399_500;

  /** The luma of each frame, after the encoder of the test picture and that of a rendition. */
  async function renditionOf(from: Size, to: Size): Promise<Uint8Array[]> {
    const plain = ['-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1'];
    const sent = start(pictureArguments({ frameRate: 25 }));
    const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '36', '-f', 'matroska'];
    const scale = ['-vf', `scale=${to.width}:${to.height}`];
    const made = start(['-v', 'error', '-i', 'pipe:0', '-an', ...scale, ...x264, 'pipe:1']);
    const seen = start(['-v', 'error', '-i', 'pipe:0', ...plain]);
    const piped = [sent.stdout.pipeTo(sinkOf(made)), made.stdout.pipeTo(sinkOf(seen))];
    const picture = new TestPicture({ ...from, title: 'The demo' });
    sent.stdin.write(rawHeader({ ...from, frameRate: 25, sampleRate: 48_000 }));
    for (let frame = 0; frame < FRAMES; frame++) {
      const pixels = picture.draw(beginMs + frame * 40);
      const silence = new Uint8Array(48 * 40 * 2);
      for (const piece of rawCluster(frame * 40, pixels, frame * 40, silence)) {
        sent.stdin.write(piece);
      }
      await sent.stdin.flush();
    }
    void sent.stdin.end();
    const bytes = await new Response(seen.stdout).bytes();
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
    '[M-45] a picture of %s is read in the lowest rendition, coarsely compressed',
    async (_, sent, shown) => {
      const to = sizeOf(shown);
      const frames = await renditionOf(sizeOf(sent), to);
      const read = frames.map((data) => readPicture({ ...to, data, format: 'luma' })?.unixMs);
      expect(read).toEqual(Array.from({ length: FRAMES }, (_, frame) => beginMs + frame * 40));
    },
  );
});
