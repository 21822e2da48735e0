import { useLiveVideo } from '../on-air/use-live-video.ts';
import { SoundMeter } from './sound-meter.tsx';

/** The video of a source before the show starts. Viewers do not get it. */
export function PreviewVideo({ streamId }: { readonly streamId: string }) {
  const { video } = usePreview(streamId);
  return (
    <figure className="grid gap-2">
      <video
        ref={video}
        muted
        autoPlay
        playsInline
        controls
        aria-label="Preview of the video"
        className="aspect-video w-full rounded-lg bg-black object-contain"
      />
      <SoundMeter video={video} />
      <figcaption className="text-sm text-quiet">
        Preview, a few seconds behind the camera. Viewers do not see it.
      </figcaption>
    </figure>
  );
}

/** Plays the preview of a stream in a video element. */
export function usePreview(streamId: string) {
  return useLiveVideo(`/studio/v1/streams/${streamId}/preview/master.m3u8`);
}
