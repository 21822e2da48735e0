import type { StudioStream } from '../../protocol/studio.ts';
import { useLiveVideo } from '../on-air/use-live-video.ts';
import { AdviceOnLatency } from '../rundown/latency-hint.tsx';
import { useLatencyAdvice } from '../rundown/use-latency-advice.ts';
import { usePermission } from '../session/session-context.ts';
import { PlayerNotLoaded } from '../ui/player-not-loaded.tsx';
import { SoundMeter } from './sound-meter.tsx';
import { texts } from './texts.ts';

/** The video of a source before the show starts. Viewers do not get it. */
export function PreviewVideo({ stream }: { readonly stream: StudioStream }) {
  const { video, isNotLoaded, advice } = useLatencyAdvice(stream, previewUrl(stream.id));
  const mayChange = usePermission('patchStream');
  if (isNotLoaded) return <PlayerNotLoaded />;
  return (
    <figure className="grid gap-2">
      <video
        ref={video}
        muted
        autoPlay
        playsInline
        controls
        aria-label={texts.preview.label}
        className="aspect-video w-full rounded-lg bg-black object-contain"
      />
      <SoundMeter video={video} />
      <figcaption className="text-sm text-quiet">{texts.preview.caption}</figcaption>
      {mayChange && advice?.kind === 'short' && (
        <div className="grid gap-3">
          <AdviceOnLatency stream={stream} advice={advice} />
        </div>
      )}
    </figure>
  );
}

/** Plays the preview of a stream in a video element. */
export function usePreview(streamId: string) {
  return useLiveVideo(previewUrl(streamId));
}

const previewUrl = (streamId: string) => `/media/previews/${streamId}/master.m3u8`;
