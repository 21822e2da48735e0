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
  useEffect(() => {
    if (id === null) return;
    const readStatus = () => statusOf(id);
    return hasEnded
      ? watchReopening(readStatus, onReopened)
      : watchVideoEnd(video, readStatus, { onEnded: () => setEndedId(id), onReopened });
  }, [id, hasEnded, video, onReopened]);
  return useMemo(
    () => (stream && hasEnded ? { ...stream, status: 'ENDED' as const } : stream),
    [stream, hasEnded],
  );
}

/** The status of a stream now; null while it cannot be read. */
async function statusOf(id: string): Promise<Stream['status'] | null> {
  try {
    const response = await fetch(`/api/v1/streams/${id}/`);
    return response.ok ? (await response.json()).status : null;
  } catch {
    return null;
  }
}
