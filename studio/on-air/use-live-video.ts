import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

const SAMPLE_MS = 1_000;

/**
 * Plays the live video of a stream.
 * @param url HLS playlist; null: no video now
 * @param onSample called once a second with the delay behind the camera, ms; null: unknown
 * @returns a ref for the video element, the delay, and whether the player could not be loaded
 */
export function useLiveVideo(url: string | null, onSample?: (delayMs: number | null) => void) {
  const video = useRef<HTMLVideoElement>(null);
  const [delayMs, setDelayMs] = useState<number | null>(null);
  const [isNotLoaded, setIsNotLoaded] = useState(false);
  const latestOnSample = useRef(onSample);
  latestOnSample.current = onSample;
  const clockOffset = useRef(0);
  clockOffset.current = useServiceClockOffset();
  useEffect(() => {
    const element = video.current;
    if (url === null || !element) return;
    let stop = () => {};
    let isStopped = false;
    const onNotLoaded = () => {
      if (!isStopped) setIsNotLoaded(true);
    };
    // hls.js is large and not every page plays video.
    void import('./live-hls-player.ts').then(({ playLiveHls }) => {
      if (isStopped) return;
      stop = playLiveHls(element, url, SAMPLE_MS, (shownMs) => {
        const nowMs = Date.now() + clockOffset.current;
        const sampleMs = shownMs === null ? null : Math.max(0, nowMs - shownMs);
        setDelayMs(sampleMs);
        latestOnSample.current?.(sampleMs);
      });
    }, onNotLoaded);
    return () => {
      isStopped = true;
      stop();
      setDelayMs(null);
    };
  }, [url]);
  return { video, delayMs, isNotLoaded };
}

/** How far the service's clock, which timestamps the video, is ahead of this machine's, ms. */
function useServiceClockOffset(): number {
  const { data = 0 } = useQuery({
    queryKey: ['time'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const requestedMs = Date.now();
      const response = await fetch('/api/v1/time', { signal, cache: 'no-store' });
      const { now } = (await response.json()) as { now: number };
      return now - (requestedMs + Date.now()) / 2;
    },
  });
  return data;
}
