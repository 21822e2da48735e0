import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { realEnvironment } from './environment.ts';
import { join } from './join.ts';
import { type JoinOptions, resolveUrls } from './join-options.ts';
import type { Snapshot, Viewer } from './viewer.ts';

const { after } = realEnvironment();

/**
 * Joins a stream when the component mounts, and leaves when it unmounts. Another stream, viewer,
 * service, `transport`, `hiddenMs` or `catchUpMs` joins anew; a changed `name` updates the viewer.
 * @param options null: do not join yet
 * @returns null until joined, as during server rendering
 */
export function useViewer(options: JoinOptions | null): Viewer | null {
  const [viewer, setViewer] = useState<Viewer | null>(null);
  const latestOptions = useRef(options);
  useEffect(() => {
    latestOptions.current = options;
  });
  const name = options?.name;
  useEffect(() => {
    if (viewer && name !== undefined) viewer.name = name;
  }, [viewer, name]);
  const key = options && joinKey(options);
  useEffect(() => {
    const { current } = latestOptions;
    if (key === null || !current) return;
    // Functions change with each render, so call the latest one.
    const getToken =
      current.getToken && (() => latestOptions.current?.getToken?.() ?? rejectToken());
    const joined = join({ ...current, getToken });
    setViewer(joined);
    return () => {
      joined.leave();
      setViewer(null);
    };
  }, [key]);
  return viewer;
}

/** The viewer's snapshot. Rerenders the component on every change. */
export function useSnapshot(viewer: Viewer): Snapshot;
export function useSnapshot(viewer: Viewer | null): Snapshot | null;
export function useSnapshot(viewer: Viewer | null): Snapshot | null {
  const subscribe = useCallback(
    (onChange: () => void) => viewer?.on('change', onChange) ?? (() => {}),
    [viewer],
  );
  const read = () => viewer?.snapshot ?? null;
  return useSyncExternalStore(subscribe, read, read);
}

/**
 * Time left to answer, as `Viewer.remainingMs`. Rerenders the component while time is left.
 * @param stepMs time between updates
 */
export function useRemainingMs(viewer: Viewer | null, stepMs = 100): number {
  const quiz = useSnapshot(viewer)?.quiz;
  const openQuizId = quiz && !quiz.results ? quiz.quiz.id : null;
  const [remainingMs, setRemainingMs] = useState(0);
  useEffect(() => {
    if (!viewer || openQuizId === null) return setRemainingMs(0);
    let cancel = () => {};
    const update = () => {
      setRemainingMs(viewer.remainingMs());
      cancel = after(stepMs, update);
    };
    update();
    return () => cancel();
  }, [viewer, openQuizId, stepMs]);
  return remainingMs;
}

function joinKey(options: JoinOptions): string {
  const { streamId, viewerId, transport, hiddenMs, catchUpMs } = options;
  return JSON.stringify([resolveUrls(options), streamId, viewerId, transport, hiddenMs, catchUpMs]);
}

function rejectToken(): Promise<string> {
  return Promise.reject(new Error('The getToken option was removed.'));
}
