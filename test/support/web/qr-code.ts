import jsQR from 'jsqr';
import type { BrowserContext, Locator } from 'playwright-core';

/** What a scanner reads from an element as it is on the screen. */
export async function scanQrCode(element: Locator): Promise<string | undefined> {
  return scanImage(element.page().context(), await element.screenshot(), 'image/png');
}

/** What a scanner reads from an image. @param type its media type */
export async function scanImage(
  browser: BrowserContext,
  image: Uint8Array,
  type: string,
): Promise<string | undefined> {
  const url = `data:${type};base64,${image.toBase64()}`;
  const page = await browser.newPage();
  const { width, height, pixels } = await page.evaluate<{
    width: number;
    height: number;
    pixels: string;
  }>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(url)};
    await image.decode();
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    // As text: a list of millions of numbers takes half a minute to leave the browser.
    const reader = new FileReader();
    reader.readAsDataURL(new Blob([canvas.getImageData(0, 0, width, height).data]));
    await new Promise((resolve) => { reader.onload = resolve; });
    return { width, height, pixels: reader.result.slice(reader.result.indexOf(',') + 1) };
  })()`);
  await page.close();
  const rgba = new Uint8ClampedArray(Uint8Array.fromBase64(pixels).buffer);
  return jsQR(rgba, width, height, { inversionAttempts: 'dontInvert' })?.data;
}
