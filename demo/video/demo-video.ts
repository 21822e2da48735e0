import type { DemoVideo } from '../children.ts';
import type { VideoState } from '../screen/show.ts';
import { fetchPlaylists } from './playlists.ts';

export interface VideoRun {
  readonly origin: string;
  readonly streamId: string;
  /** The process that publishes the video. */
  readonly video: DemoVideo;
  /** Service time, Unix ms; the clock of this machine, which the server shares. */
  readonly nowMs: () => number;
  readonly onChange: (video: VideoState) => void;
}

const POLL_MS = 2_000;
// Above this age the newest segment belongs to a source that has stopped.
const STALE_MS = 6_000;

/** Polls the state of the video. @returns a function that stops the polling */
export function followVideo({ origin, streamId, video, nowMs, onChange }: VideoRun): () => void {
  let isOver = false;
  const notify = (shown: VideoState) => {
    if (!isOver) onChange(shown);
  };
  const poll = async () => {
    const playlists = await fetchPlaylists(origin, streamId);
    const ageMs = playlists?.edgeMs == null ? null : nowMs() - playlists.edgeMs;
    if (playlists === null || ageMs === null || ageMs > STALE_MS) notify({ state: 'starting' });
    else notify({ state: 'live', ageMs: Math.max(0, ageMs), sizes: playlists.sizes });
  };
  const pollTimer = setInterval(() => void poll(), POLL_MS);
  const stop = () => {
    isOver = true;
    clearInterval(pollTimer);
  };
  void video.ended.then((errorLine) => {
    notify({ state: 'failed', reason: errorLine || 'its encoder process has exited' });
    stop();
  });
  return stop;
}
