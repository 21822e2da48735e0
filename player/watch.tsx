import { createRoot } from 'react-dom/client';
import { join } from '../sdk/join.ts';
import { useSnapshot } from '../sdk/react.ts';
import type { Viewer } from '../sdk/viewer.ts';
import { detectBan } from './ban-detection.ts';
import { createContactApi } from './contact/contact-api.ts';
import { hostPageOf, startHostPageBridge } from './embed/host-page-bridge.ts';
import { loadIdentity } from './identity.ts';
import { parsePageOptions } from './page-options.ts';
import { showIn } from './show/page-show.ts';
import { newStageVideo } from './stage/stage-video.ts';
import { texts } from './texts.ts';
import { browserConnection, chooseTransport } from './transport.ts';
import { trackVisualViewport } from './visual-viewport.ts';
import { WatchPage } from './watch-page.tsx';

// The entry of the page at `/watch/:stream_id`: joins its stream and renders the page.

const options = parsePageOptions(location.href);
const { id, name } = loadIdentity();
const { streamId, hostOrigin } = options;
const transport = await chooseTransport(browserConnection());
const video = newStageVideo();
video.muted = options.isMuted;
const show = showIn(document);
const root = createRoot(rootElement());
const environment = { fetch: detectBan((url, init) => fetch(url, init), onBanned) };
const contact = createContactApi({ streamId, viewerId: id, fetch: environment.fetch });
const hostPage = hostOrigin === null ? null : hostPageOf(window, hostOrigin);
let joinCount = 0;
let leave = joinShow(name);

trackVisualViewport(window);

/** Joins the show and renders it. @returns a function that leaves it */
function joinShow(chatName: string): () => void {
  const viewer = join({
    baseUrl: location.origin,
    streamId,
    viewerId: id,
    name: chatName,
    transport,
    environment,
  });
  const stopBridge = hostPage && startHostPageBridge(viewer, video, hostPage);
  const onReopened = () => {
    leave();
    leave = joinShow(viewer.name);
  };
  root.render(<Watch key={joinCount++} viewer={viewer} onReopened={onReopened} />);
  return () => {
    viewer.leave();
    stopBridge?.();
  };
}

/** Ends the show for a banned viewer: stops all requests and shows why. */
function onBanned(): void {
  leave();
  root.render(<BannedPage />);
  video.pause();
}

function rootElement(): HTMLElement {
  const element = document.getElementById('root');
  if (!element) throw new Error('The page has no element with the id "root".');
  return element;
}

interface WatchProps {
  readonly viewer: Viewer;
  /** Called when the show goes on after its end. */
  readonly onReopened: () => void;
}

function Watch({ viewer, onReopened }: WatchProps) {
  const snapshot = useSnapshot(viewer);
  return (
    <WatchPage
      viewer={viewer}
      snapshot={snapshot}
      show={show}
      video={video}
      isBare={!options.hasChat}
      hasStats={options.hasStats}
      contact={contact}
      onReopened={onReopened}
    />
  );
}

function BannedPage() {
  return (
    <main className="banned">
      <h1>{texts.banned.title}</h1>
      <p>{texts.banned.reason}</p>
    </main>
  );
}
