import { useMemo, useSyncExternalStore } from 'react';
import { useExternalStore } from '../ui/external-store.ts';
import { Recording, type RecordingSnapshot } from './recording.ts';

/** The recording player of a page. */
export function useRecording(): Recording {
  return useMemo(
    () =>
      // hls.js is large and not every show has a recording.
      new Recording(async (...args) => (await import('./recording-hls.ts')).openHls(...args)),
    [],
  );
}

/** The state of a recording; changes with each position. */
export function useRecordingState(recording: Recording): RecordingSnapshot {
  return useExternalStore(recording);
}

/** Whether a recording can be shown, as far as known. Unlike the state, this seldom changes. */
export function useCanShowRecording(recording: Recording, url: string | null): boolean {
  const state = useSyncExternalStore(recording.subscribe, () => recording.snapshot.state);
  return url !== null && canShow(state);
}

/** Whether a recording in this state has, or may get, a video. */
export function canShow(state: RecordingSnapshot['state']): boolean {
  return state === 'loading' || state === 'ready';
}
