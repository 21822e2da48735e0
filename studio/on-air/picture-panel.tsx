import type { LiveState } from '../../protocol/live.ts';
import { timeOf } from '../shell/times.ts';
import { classes } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { usePicture } from './use-picture.ts';

/** Where there is no picture. */
const WORDS = {
  CREATED: 'The show has not begun.',
  STREAMING: 'Nothing sends a picture.',
  ENDED: 'The show is over.',
} as const;

/** The picture as viewers get it, and by how much it is late. */
export function PicturePanel({
  stream,
  source,
  sourceEndsAt,
}: Pick<LiveState, 'stream' | 'source' | 'sourceEndsAt'>) {
  const { id, hls_url: url, status } = stream;
  const isElsewhere = !url.includes(`/media/${id}/`);
  const isOn = status === 'STREAMING' && (source !== null || isElsewhere);
  const { video, behindMs } = usePicture(isOn ? url : null);
  const isLost = sourceEndsAt !== null;
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
        <p
          role={isLost ? 'alert' : undefined}
          className={classes(
            'grid aspect-video place-items-center rounded-lg p-4 text-center',
            isLost ? 'bg-bad-soft font-semibold text-bad' : 'bg-raised text-quiet',
          )}
        >
          {isLost ? lostWords(sourceEndsAt) : WORDS[status]}
        </p>
      )}
    </Panel>
  );
}

/** It names the time, which is read out once; a countdown would be read out each second. */
function lostWords(endsAtMs: number): string {
  return `The picture is gone. Unless it comes back, the show ends by itself at ${timeOf(endsAtMs)}.`;
}
