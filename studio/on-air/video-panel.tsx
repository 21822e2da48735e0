import type { LiveState } from '../../protocol/live.ts';
import { usePreview } from '../source/preview-video.tsx';
import { SoundMeter } from '../source/sound-meter.tsx';
import { PlayerNotLoaded } from '../ui/player-not-loaded.tsx';
import { SourceLost } from './source-lost.tsx';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';
import { useLiveVideo } from './use-live-video.ts';

const VIDEO = {
  ...{ muted: true, autoPlay: true, playsInline: true },
  className: 'size-full bg-black object-contain',
} as const;
/** Text on the video, which must not cover its controls. */
const OVER_VIDEO =
  'pointer-events-none absolute left-2 rounded-md bg-black/80 px-2 py-0.5 text-xs text-white';

/** The video: before the show the preview of its source, then what viewers get. */
export function VideoPanel({ state }: { readonly state: LiveState }) {
  const { stream, source } = state;
  return (
    <StagePanel title={texts.video.title} place="video" header="never" isFlush>
      {stream.status === 'CREATED' && source ? (
        <Preview streamId={stream.id} />
      ) : (
        <ShownVideo state={state} />
      )}
    </StagePanel>
  );
}

/** The video of a source before the show starts, with its sound level. */
function Preview({ streamId }: { readonly streamId: string }) {
  const { video, isNotLoaded } = usePreview(streamId);
  if (isNotLoaded) return <PlayerNotLoaded />;
  return (
    <>
      <video ref={video} {...VIDEO} aria-label={texts.video.previewLabel} />
      <p className={`${OVER_VIDEO} top-2`}>{texts.video.preview}</p>
      <div className="absolute inset-x-0 bottom-0 bg-card px-2 lg:px-3">
        <SoundMeter video={video} />
      </div>
    </>
  );
}

/** The video as viewers get it, with its delay. */
function ShownVideo({ state }: { readonly state: LiveState }) {
  const { stream, source, sourceEndsAt } = state;
  const { id, hls_url: url, status } = stream;
  const isExternal = !url.includes(`/media/${id}/`);
  const isPlaying = status === 'STREAMING' && (source !== null || isExternal);
  const { video, delayMs, isNotLoaded } = useLiveVideo(isPlaying ? url : null);
  if (isPlaying && isNotLoaded) return <PlayerNotLoaded />;
  if (isPlaying) {
    return (
      <>
        <video ref={video} {...VIDEO} controls aria-label={texts.video.label} />
        {delayMs !== null && (
          <p className={`${OVER_VIDEO} top-2 hidden tabular-nums lg:block`}>
            {texts.video.delay((delayMs / 1_000).toFixed(1))}
          </p>
        )}
      </>
    );
  }
  if (sourceEndsAt !== null) return <SourceLost state={state} endsAtMs={sourceEndsAt} />;
  return (
    <p className="grid size-full place-items-center overflow-y-auto bg-raised p-3 text-center text-sm text-quiet lg:text-base">
      {status === 'STREAMING' && stream.keepOpen
        ? texts.video.keptOpen
        : texts.video.noVideo[status]}
    </p>
  );
}
