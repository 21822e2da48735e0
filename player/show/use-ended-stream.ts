import { useEffect, useMemo, useState } from 'react';
import type { Stream } from '../../sdk/types.ts';
import { watchReopening, watchVideoEnd } from './show-end.ts';

/**
 * The stream, as ended as soon as the service says so after the video's end.
 * @param onReopened called when the stream is live again after its end
 */
export function useEndedStream<T extends Stream>(
  stream: T | null,
  video: HTMLVideoElement,
  onReopened: () => void,
): T | null {
  const [endedId, setEndedId] = useState<string | null>(null);
  const id = stream?.id ?? null;
  const hasEnded = stream?.status === 'ENDED' || (id !== null && id === endedId);
  // A live show may have a recording of another service as its video, which ends while the show goes on.
  const isOwnVideo = (stream?.hls_url ?? '').includes(`/media/${id}/`);
  useEffect(() => {
    if (id === null) return;
    const readStatus = () => statusOf(id);
    if (hasEnded) return watchReopening(readStatus, onReopened);
    const onLive = isOwnVideo ? onReopened : () => {};
    return watchVideoEnd(video, readStatus, { onEnded: () => setEndedId(id), onLive });
  }, [id, hasEnded, isOwnVideo, video, onReopened]);
  return useMemo(
    () => (stream && hasEnded ? { ...stream, status: 'ENDED' as const } : stream),
    [stream, hasEnded],
  );
}

/** The status of a stream now; null while it cannot be read. */
async function statusOf(id: string): Promise<Stream['status'] | null> {
  try {
    const response = await fetch(`/api/v1/streams/${id}/`);
    const stream = response.ok ? await response.json() : null;
    // A proxy may answer with JSON of its own.
    return stream?.id === id ? stream.status : null;
  } catch {
    return null;
  }
}
