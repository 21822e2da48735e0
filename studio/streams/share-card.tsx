import { useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Panel } from '../ui/panel.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { QrDownloads } from './qr-downloads.tsx';
import { embedCode, viewerUrl } from './share-links.ts';
import { texts } from './texts.ts';

/** The link to the viewer page, as text and QR code, and the code that embeds it. */
export function ShareCard({ stream }: { readonly stream: StudioStream }) {
  const [hasPreview, setPreview] = useState(false);
  const url = viewerUrl(location.origin, stream.id);
  const code = embedCode(location.origin, stream);
  return (
    <Panel title={texts.share.title}>
      <Copyable label={texts.share.viewerLink} copyLabel={texts.share.copyViewerLink} text={url} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <QrCode
          text={url}
          label={texts.share.qrCode}
          className="size-56 shrink-0 rounded-lg border border-line"
        />
        <div className="grid">
          <QrDownloads url={url} fileName={texts.share.qrFileName(stream.title)} />
        </div>
      </div>
      <Copyable label={texts.share.embedCode} copyLabel={texts.share.copyEmbedCode} text={code} />
      <div>
        <Button variant="quiet" onPress={() => setPreview(!hasPreview)} aria-expanded={hasPreview}>
          {hasPreview ? texts.share.hidePreview : texts.share.showPreview}
        </Button>
      </div>
      {hasPreview && (
        <>
          <p className="text-sm text-quiet">{texts.share.previewHelp}</p>
          <iframe
            title={texts.share.previewLabel}
            src={`/watch/${stream.id}?embed&muted`}
            className="aspect-video w-full rounded-xl border border-line"
          />
        </>
      )}
    </Panel>
  );
}

interface CopyableProps {
  readonly label: string;
  readonly copyLabel: string;
  readonly text: string;
}

function Copyable({ label, copyLabel, text }: CopyableProps) {
  return (
    <div className="grid gap-1.5">
      <span className="text-sm font-semibold">{label}</span>
      <div className="flex items-center gap-2">
        <code className="min-w-0 flex-1 rounded-lg border border-line p-2 text-sm wrap-anywhere">
          {text}
        </code>
        <CopyButton label={copyLabel} text={text} />
      </div>
    </div>
  );
}
