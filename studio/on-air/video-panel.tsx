import type { LiveState } from '../../protocol/live.ts';
import { timeOf } from '../shell/times.ts';
import { classes } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { useLiveVideo } from './use-live-video.ts';

const NO_VIDEO_TEXTS = {
  CREATED: 'The show has not started.',
  STREAMING: 'No video source.',
  ENDED: 'The show has ended.',
} as const;

/** The video as viewers get it, with its delay. */
export function VideoPanel({ state }: { readonly state: LiveState }) {
  const { stream, source, sourceEndsAt } = state;
  const { id, hls_url: url, status } = stream;
  const isExternal = !url.includes(`/media/${id}/`);
  const isPlaying = status === 'STREAMING' && (source !== null || isExternal);
  const { video, delayMs } = useLiveVideo(isPlaying ? url : null);
  const isSourceLost = sourceEndsAt !== null;
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
      ) : (
        <p
          role={isSourceLost ? 'alert' : undefined}
          className={classes(
            'grid aspect-video place-items-center rounded-lg p-4 text-center',
            isSourceLost ? 'bg-bad-soft font-semibold text-bad' : 'bg-raised text-quiet',
          )}
        >
          {isSourceLost ? sourceLostText(sourceEndsAt) : NO_VIDEO_TEXTS[status]}
        </p>
      )}
    </Panel>
  );
}

/** Gives the time of the end: screen readers would read out a countdown every second. */
function sourceLostText(endsAtMs: number): string {
  return `The video source is disconnected. Unless it reconnects, the show ends automatically at ${timeOf(endsAtMs)}.`;
}
