import type { DemoVideo } from '../children.ts';
import type { VideoState } from '../screen/show.ts';
import { fetchPlaylists } from './playlists.ts';

export interface VideoRun {
  readonly origin: string;
  readonly streamId: string;
  /** The process that sends it. */
  readonly video: DemoVideo;
  /** The service's time, Unix ms: the demo and its server are on one machine. */
  readonly nowMs: () => number;
  readonly onChange: (video: VideoState) => void;
}

const POLL_MS = 2_000;
// Older than this, the newest segment is of a source that is gone.
const STALE_MS = 6_000;

/** Follows the video of the show until it is told to stop. @returns what stops it */
export function followVideo({ origin, streamId, video, nowMs, onChange }: VideoRun): () => void {
  let isOver = false;
  const notify = (shown: VideoState) => {
    if (!isOver) onChange(shown);
  };
  const poll = async () => {
    const seen = await fetchPlaylists(origin, streamId);
    const ageMs = seen?.edgeMs == null ? null : nowMs() - seen.edgeMs;
    if (seen === null || ageMs === null || ageMs > STALE_MS) notify({ state: 'starting' });
    else notify({ state: 'live', ageMs: Math.max(0, ageMs), sizes: seen.sizes });
  };
  const pollTimer = setInterval(() => void poll(), POLL_MS);
  const stop = () => {
    isOver = true;
    clearInterval(pollTimer);
  };
  void video.ended.then((complaint) => {
    notify({ state: 'failed', reason: complaint || 'the process that sends it has ended' });
    stop();
  });
  return stop;
}
