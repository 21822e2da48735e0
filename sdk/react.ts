import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { realEnvironment } from './environment.ts';
import { join } from './join.ts';
import { type JoinOptions, urlsOf } from './join-options.ts';
import type { Snapshot, Viewer } from './viewer.ts';

const { after } = realEnvironment();

/**
 * Joins a stream while the component is there, and leaves when it goes. Another stream, viewer or
 * service is joined anew; a `name` that changes is only taken over.
 * @param options null: nothing is joined yet
 * @returns null until it has joined, as on a server
 */
export function useViewer(options: JoinOptions | null): Viewer | null {
  const [viewer, setViewer] = useState<Viewer | null>(null);
  const newest = useRef(options);
  useEffect(() => {
    newest.current = options;
  });
  const name = options?.name;
  useEffect(() => {
    if (viewer && name !== undefined) viewer.name = name;
  }, [viewer, name]);
  const identity = options && identityOf(options);
  useEffect(() => {
    const { current } = newest;
    if (identity === null || !current) return;
    // Functions are new with each rendering, so it is the newest that is called.
    const getToken = current.getToken && (() => newest.current?.getToken?.() ?? noToken());
    const joined = join({ ...current, getToken });
    setViewer(joined);
    return () => {
      joined.leave();
      setViewer(null);
    };
  }, [identity]);
  return viewer;
}

/** What is on screen. The component is rendered again whenever it changes. */
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
 * How long the viewer has to answer, as `remainingMs`; the component is rendered again while it runs.
 * @param stepMs how often
 */
export function useRemainingMs(viewer: Viewer | null, stepMs = 100): number {
  const quiz = useSnapshot(viewer)?.quiz;
  const open = quiz && !quiz.results ? quiz.quiz.id : null;
  const [remainingMs, setRemainingMs] = useState(0);
  useEffect(() => {
    if (!viewer || open === null) return setRemainingMs(0);
    let callOff = () => {};
    const look = () => {
      setRemainingMs(viewer.remainingMs());
      callOff = after(stepMs, look);
    };
    look();
    return () => callOff();
  }, [viewer, open, stepMs]);
  return remainingMs;
}

function identityOf(options: JoinOptions): string {
  const { streamId, viewerId, transport, hiddenMs, catchUpMs } = options;
  return JSON.stringify([urlsOf(options), streamId, viewerId, transport, hiddenMs, catchUpMs]);
}

function noToken(): Promise<string> {
  return Promise.reject(new Error('getToken is gone'));
}
