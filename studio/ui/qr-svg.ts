import { encode } from 'uqr';

/** Light modules around a code, which scanners need (ISO/IEC 18004). */
const QUIET_ZONE = 4;

export interface QrCodePath {
  /** Width and height with the quiet zone, in modules. */
  readonly size: number;
  /** SVG path data of the dark modules. */
  readonly path: string;
}

/** Draws a text as a QR code. */
export function qrCodePath(text: string): QrCodePath {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  );
  return { size, path: runs.join('') };
}

/** A QR code as an SVG file. @param widthPx width for programs that need one */
export function qrCodeSvg(text: string, widthPx: number): string {
  const { size, path } = qrCodePath(text);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${widthPx}" ` +
    `viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}h-${size}z"/><path d="${path}"/></svg>`
  );
}
