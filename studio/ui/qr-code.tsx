import { useMemo } from 'react';
import { qrCodePath } from './qr-svg.ts';

interface QrCodeProps {
  readonly text: string;
  /** What the code opens, for screen readers. */
  readonly label: string;
  readonly className: string;
}

/** A QR code, dark on light in every theme. */
export function QrCode({ text, label, className }: QrCodeProps) {
  const { size, path } = useMemo(() => qrCodePath(text), [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      className={className}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <path fill="#fff" d={`M0 0h${size}v${size}h-${size}z`} />
      <path fill="#000" d={path} />
    </svg>
  );
}
