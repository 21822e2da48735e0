import { useEffect, useRef, useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { Panel } from '../ui/panel.tsx';

const LOOK_MS = 1_000;

/** The picture as viewers get it, and by how much it is late. */
export function PicturePanel({ stream }: { readonly stream: StudioStream }) {
  const video = useRef<HTMLVideoElement>(null);
  const [behindMs, setBehindMs] = useState<number | null>(null);
  const { hls_url: url, status } = stream;
  const isOn = status === 'STREAMING';
  useEffect(() => {
    const element = video.current;
    if (!isOn || !element) return;
    let stop = () => {};
    let isOver = false;
    // The player of HLS is large, and not every show is on.
    void import('./hls-picture.ts').then(({ playHls }) => {
      if (!isOver) stop = playHls(element, url, setBehindMs, LOOK_MS);
    });
    return () => {
      isOver = true;
      stop();
      setBehindMs(null);
    };
  }, [isOn, url]);
  return (
    <Panel
      title="Picture"
      aside={
        behindMs !== null && (
          <span className="text-sm text-quiet tabular-nums">
            {(behindMs / 1_000).toFixed(1)} s behind the camera
          </span>
        )
      }
    >
      {isOn ? (
        <video
          ref={video}
          muted
          autoPlay
          playsInline
          controls
          aria-label="The picture as viewers get it"
          className="aspect-video w-full rounded-lg bg-black object-contain"
        />
      ) : (
        <p className="grid aspect-video place-items-center rounded-lg bg-raised text-quiet">
          {status === 'ENDED' ? 'The show is over.' : 'The show has not begun.'}
        </p>
      )}
    </Panel>
  );
}
