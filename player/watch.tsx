import { createRoot } from 'react-dom/client';
import { join } from '../sdk/join.ts';
import { useSnapshot } from '../sdk/react.ts';
import type { Viewer } from '../sdk/viewer.ts';
import { outsideOf, startBridge } from './embed/bridge.ts';
import { identityIn } from './identity.ts';
import { pageOptionsOf } from './page-options.ts';
import { noticingSentOut } from './sent-out.ts';
import { SentOutPage } from './sent-out-page.tsx';
import { newStageVideo } from './stage/stage-video.ts';
import { ownSurroundings, transportOf } from './transport.ts';
import { followVisiblePart } from './visible-part.ts';
import { WatchPage } from './watch-page.tsx';

// The page at `/watch/:stream_id`: joins its stream, and shows what the viewer sees.

const options = pageOptionsOf(location.href);
const { id, name } = identityIn();
const { streamId, origin } = options;
const transport = await transportOf(ownSurroundings());
const video = newStageVideo();
video.muted = options.isMuted;
const root = createRoot(rootPlace());
const environment = {
  fetch: noticingSentOut((url, init) => fetch(url, init), sendOut),
};
const viewer = join({
  baseUrl: location.origin,
  streamId,
  viewerId: id,
  name,
  transport,
  environment,
});
const outside = origin === null ? null : outsideOf(window, origin);
const endBridge = outside && startBridge(viewer, video, outside);

followVisiblePart(window);
root.render(<Watch viewer={viewer} />);

/** The viewer is not wanted: nothing is asked for any more. */
function sendOut(): void {
  viewer.leave();
  endBridge?.();
  root.render(<SentOutPage />);
  video.pause();
}

function rootPlace(): HTMLElement {
  const place = document.getElementById('root');
  if (!place) throw new Error('the page has no place for it');
  return place;
}

function Watch({ viewer }: { readonly viewer: Viewer }) {
  const snapshot = useSnapshot(viewer);
  return (
    <WatchPage
      viewer={viewer}
      snapshot={snapshot}
      video={video}
      isBare={!options.hasChat}
      hasFacts={options.hasFacts}
    />
  );
}
