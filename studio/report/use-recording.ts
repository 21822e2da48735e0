import { useMemo, useSyncExternalStore } from 'react';
import { Recording, type RecordingSnapshot } from './recording.ts';

/** The recording that is played on a page. */
export function useRecording(): Recording {
  return useMemo(
    () =>
      // The player of HLS is large, and not every show has a recording.
      new Recording(async (...what) => (await import('./recording-hls.ts')).openHls(...what)),
    [],
  );
}

/** How it is with it now. */
export function useRecordingState(recording: Recording): RecordingSnapshot {
  return useSyncExternalStore(recording.subscribe, () => recording.snapshot);
}

/** Whether there is one, as far as is known: this changes seldom, and places on screen all the time. */
export function useIsRecorded(recording: Recording, url: string | null): boolean {
  const state = useSyncExternalStore(recording.subscribe, () => recording.snapshot.state);
  return url !== null && state !== 'absent';
}
