import type { LiveState } from '../../protocol/live.ts';
import { PreviewVideo } from '../source/preview-video.tsx';
import { SourceWarnings } from '../source/source-facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { SourceLost } from './source-lost.tsx';
import { useLiveVideo } from './use-live-video.ts';

const NO_VIDEO_TEXTS = {
  CREATED: 'The show has not started.',
  STREAMING: 'No video source.',
  ENDED: 'The show has ended.',
} as const;

/** The video: before the show the preview of its source, then what viewers get. */
export function VideoPanel({ state }: { readonly state: LiveState }) {
  const { stream, source } = state;
  if (stream.status === 'CREATED' && source) {
    return (
      <Panel title="Video">
        <PreviewVideo streamId={stream.id} />
        <SourceWarnings source={source} />
      </Panel>
    );
  }
  return <ShownVideo state={state} />;
}

/** The video as viewers get it, with its delay. */
function ShownVideo({ state }: { readonly state: LiveState }) {
  const { stream, source, sourceEndsAt } = state;
  const { id, hls_url: url, status } = stream;
  const isExternal = !url.includes(`/media/${id}/`);
  const isPlaying = status === 'STREAMING' && (source !== null || isExternal);
  const { video, delayMs } = useLiveVideo(isPlaying ? url : null);
  return (
    <Panel
      title="Video"
      aside={
        delayMs !== null && (
          <span className="text-sm text-quiet tabular-nums">
            {(delayMs / 1_000).toFixed(1)} s behind the camera
          </span>
        )
      }
    >
      {isPlaying ? (
        <video
          ref={video}
          muted
          autoPlay
          playsInline
          controls
          aria-label="The video as viewers see it"
          className="aspect-video w-full rounded-lg bg-black object-contain"
        />
      ) : sourceEndsAt !== null ? (
        <SourceLost state={state} endsAtMs={sourceEndsAt} />
      ) : (
        <p className="grid aspect-video place-items-center rounded-lg bg-raised p-4 text-center text-quiet">
          {status === 'STREAMING' && stream.keepOpen
            ? 'No video source. The show stays open until you end it.'
            : NO_VIDEO_TEXTS[status]}
        </p>
      )}
    </Panel>
  );
}
