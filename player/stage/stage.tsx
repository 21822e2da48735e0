import type { ReactNode } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';

interface StageProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  /** What lies over the picture, in full screen too. */
  readonly children: ReactNode;
}

/** The picture, its controls, and words where there is none. */
export function Stage({ children }: StageProps) {
  return (
    <section id="stage" className="stage" aria-label="Video">
      <video className="stage-video" playsInline muted />
      {children}
    </section>
  );
}
