import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';

const LOOK_MS = 1_000;

interface Picture {
  /** Of the element that it is shown in. */
  readonly video: RefObject<HTMLVideoElement | null>;
  /** How far it is behind the camera, ms; null: not known. */
  readonly behindMs: number | null;
}

/**
 * Plays a stream's picture.
 * @param url of its HLS playlist; null: there is none now
 * @param onLook told each second how far it is behind the camera
 */
export function usePicture(
  url: string | null,
  onLook?: (behindMs: number | null) => void,
): Picture {
  const video = useRef<HTMLVideoElement>(null);
  const [behindMs, setBehindMs] = useState<number | null>(null);
  const look = useRef(onLook);
  look.current = onLook;
  const lead = useRef(0);
  lead.current = useClockLead();
  useEffect(() => {
    const element = video.current;
    if (url === null || !element) return;
    let stop = () => {};
    let isOver = false;
    // The player of HLS is large, and not every show is on.
    void import('./hls-picture.ts').then(({ playHls }) => {
      if (isOver) return;
      stop = playHls(element, url, LOOK_MS, (shownMs) => {
        const behind = shownMs === null ? null : Math.max(0, Date.now() + lead.current - shownMs);
        setBehindMs(behind);
        look.current?.(behind);
      });
    });
    return () => {
      isOver = true;
      stop();
      setBehindMs(null);
    };
  }, [url]);
  return { video, behindMs };
}

/** How far the service's clock, which a picture has its times by, is ahead of this machine's, ms. */
function useClockLead(): number {
  const { data = 0 } = useQuery({
    queryKey: ['time'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const askedMs = Date.now();
      const response = await fetch('/api/v1/time', { signal, cache: 'no-store' });
      const { now } = (await response.json()) as { now: number };
      return now - (askedMs + Date.now()) / 2;
    },
  });
  return data;
}
