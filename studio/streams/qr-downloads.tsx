import { useMemo } from 'react';
import { FOCUS_RING } from '../ui/classes.ts';
import { qrCodePath, qrCodeSvg } from '../ui/qr-svg.ts';
import { texts } from './texts.ts';

/** For slides and prints. */
const WIDTH_PX = 1_024;

interface QrDownloadsProps {
  readonly url: string;
  /** Of the files, without an extension. */
  readonly fileName: string;
}

/** The QR code of a link as files. */
export function QrDownloads({ url, fileName }: QrDownloadsProps) {
  const files = useMemo(
    () => [
      { format: 'PNG', href: pngUrl(url) },
      { format: 'SVG', href: `data:image/svg+xml,${encodeURIComponent(qrCodeSvg(url, WIDTH_PX))}` },
    ],
    [url],
  );
  return files.map(({ format, href }) => (
    <a
      key={format}
      href={href}
      download={`${fileName}.${format.toLowerCase()}`}
      className={`inline-flex min-h-11 items-center underline ${FOCUS_RING}`}
    >
      {texts.share.download(format)}
    </a>
  ));
}

function pngUrl(url: string): string {
  const { size, path } = qrCodePath(url);
  const pixelsPerModule = Math.ceil(WIDTH_PX / size);
  const canvas = document.createElement('canvas');
  canvas.width = size * pixelsPerModule;
  canvas.height = canvas.width;
  const drawing = canvas.getContext('2d');
  if (!drawing) return '';
  drawing.fillStyle = '#fff';
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.scale(pixelsPerModule, pixelsPerModule);
  drawing.fillStyle = '#000';
  drawing.fill(new Path2D(path));
  return canvas.toDataURL('image/png');
}
