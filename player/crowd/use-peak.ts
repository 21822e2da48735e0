import { useRef } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';

/**
 * The largest count that this page has shown. Pages learn of a show's end within about 20 s of each
 * other and stop counting as they do, so the last count of those who learn late is of hardly anybody.
 */
export function usePeak({ count }: Snapshot): Snapshot['count'] {
  const peak = useRef(count);
  if (count && count.value > (peak.current?.value ?? -1)) peak.current = count;
  return peak.current;
}
