import { useEffect, useMemo, useState } from 'react';
import type { Stream } from '../../sdk/types.ts';

const CHECK_MS = 1_500;
const CHECKS_MAX = 8;

/**
 * The stream, as ended as soon as the service says so after the video's end. The SDK asks every 15 s
 * only, and until then the page would offer what is live.
 */
export function useEndedStream<T extends Stream>(
  stream: T | null,
  video: HTMLVideoElement,
): T | null {
  const [endedId, setEndedId] = useState<string | null>(null);
  const id = stream?.status === 'STREAMING' ? stream.id : null;
  useEffect(() => {
    if (id === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = async (checks: number) => {
      if (await isEnded(id)) setEndedId(id);
      else if (checks > 1) timer = setTimeout(check, CHECK_MS, checks - 1);
    };
    const onEnded = () => {
      clearTimeout(timer);
      void check(CHECKS_MAX);
    };
    video.addEventListener('ended', onEnded);
    return () => {
      clearTimeout(timer);
      video.removeEventListener('ended', onEnded);
    };
  }, [id, video]);
  return useMemo(
    () => (stream && stream.id === endedId ? { ...stream, status: 'ENDED' as const } : stream),
    [stream, endedId],
  );
}

async function isEnded(id: string): Promise<boolean> {
  try {
    const response = await fetch(`/api/v1/streams/${id}/`);
    return response.ok && (await response.json()).status === 'ENDED';
  } catch {
    return false;
  }
}
