import { createRoot } from 'react-dom/client';
import { newStageVideo } from '../../../../player/stage/stage-video.ts';
import { trackVisualViewport } from '../../../../player/visual-viewport.ts';
import { WatchPage } from '../../../../player/watch-page.tsx';
import { useSnapshot } from '../../../../sdk/react.ts';
import { contactApiOf } from './contact-scenes.ts';
import type { FakeViewer } from './fake-viewer.ts';
import { SCENES } from './scenes.ts';
import { SHOWS } from './show-scenes.ts';

// The watch page with a fake viewer, which tests control as the global `viewer`.

declare global {
  var viewer: FakeViewer;
}

const query = new URLSearchParams(location.search);
const scene = SCENES[query.get('scene') ?? 'live'];
if (!scene) throw new Error(`No scene "${query.get('scene')}": choose one of scenes.ts`);
globalThis.viewer = scene();
const { stream } = viewer.snapshot;
// A stream without a URL has no video.
if (stream && query.has('still')) viewer.show({ stream: { ...stream, hls_url: null as never } });
const video = newStageVideo();
trackVisualViewport(window);

const contact = contactApiOf(query.get('scene') ?? '');

function Fixture() {
  const { viewer } = globalThis;
  const snapshot = useSnapshot(viewer);
  return (
    <WatchPage
      viewer={viewer}
      snapshot={snapshot}
      show={SHOWS[query.get('scene') ?? ''] ?? null}
      video={video}
      contact={contact}
      isBare={query.has('bare')}
      hasStats={query.has('facts')}
      onReopened={() => {}}
    />
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<Fixture />);
