import { useState } from 'react';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useLiveVideo } from '../on-air/use-live-video.ts';
import { addSample, latencyAdvice } from './latency-advice.ts';

/**
 * Plays the video of a stream and compares its delay with the latency allowance.
 * @param url HLS playlist of the live video or of the preview
 * @returns a ref for the video element, whether its player could not be loaded, and the advice; null until there
 *   are enough samples
 */
export function useLatencyAdvice(
  { latencyAllowance }: Pick<StudioStream, 'latencyAllowance'>,
  url: string,
) {
  const [samples, setSamples] = useState<readonly number[]>([]);
  const { video, isNotLoaded } = useLiveVideo(url, (delayMs) =>
    setSamples((before) => addSample(before, delayMs)),
  );
  const advice = latencyAdvice(samples, latencyAllowance, LATENCY_ALLOWANCE_MAX_MS);
  return { video, isNotLoaded, advice };
}
