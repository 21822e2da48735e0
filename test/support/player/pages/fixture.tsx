import { createRoot } from 'react-dom/client';
import { newStageVideo } from '../../../../player/stage/stage-video.ts';
import { followVisiblePart } from '../../../../player/visible-part.ts';
import { WatchPage } from '../../../../player/watch-page.tsx';
import { useSnapshot } from '../../../../sdk/react.ts';
import type { FakeViewer } from './fake-viewer.ts';
import { SCENES } from './scenes.ts';

// The page with a viewer that a test plays: `viewer` of the window.

declare global {
  var viewer: FakeViewer;
}

const query = new URLSearchParams(location.search);
const scene = SCENES[query.get('scene') ?? 'live'];
if (!scene) throw new Error('there is no such scene');
globalThis.viewer = scene();
const { stream } = viewer.snapshot;
// A stream without an address has no picture.
if (stream && query.has('still')) viewer.show({ stream: { ...stream, hls_url: null as never } });
const video = newStageVideo();
followVisiblePart(window);

function Fixture() {
  const { viewer } = globalThis;
  const snapshot = useSnapshot(viewer);
  return (
    <WatchPage
      viewer={viewer}
      snapshot={snapshot}
      video={video}
      isBare={query.has('bare')}
      hasFacts={query.has('facts')}
    />
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<Fixture />);
