import { createRoot } from 'react-dom/client';
import { displayEnvironment } from './display-environment.ts';
import { parseDisplayOptions } from './display-options.ts';
import { DisplayShow } from './display-show.ts';
import { DisplayView } from './display-view.tsx';

// The page at `/studio/present/:stream_id`: a show on a screen on stage, or as an overlay in OBS.

const options = parseDisplayOptions(location.href);
document.documentElement.classList.toggle('overlay', options.isOverlay);
// A changed fragment, such as another key, does not reload the page by itself.
addEventListener('hashchange', () => location.reload());

const show = new DisplayShow(displayEnvironment(options.streamId, options.key), options.holdMs);
const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root element');
createRoot(root).render(<DisplayView show={show} options={options} />);
