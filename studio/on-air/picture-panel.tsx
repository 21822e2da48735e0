import type { StudioStream } from '../../protocol/studio.ts';
import { Panel } from '../ui/panel.tsx';
import { usePicture } from './use-picture.ts';

/** The picture as viewers get it, and by how much it is late. */
export function PicturePanel({ stream }: { readonly stream: StudioStream }) {
  const { hls_url: url, status } = stream;
  const isOn = status === 'STREAMING';
  const { video, behindMs } = usePicture(isOn ? url : null);
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
