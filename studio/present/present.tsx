import { createRoot } from 'react-dom/client';
import { presentBrowser } from './present-browser.ts';
import { presentOptionsOf } from './present-options.ts';
import { PresentedShow } from './presented-show.ts';
import { Wall } from './wall.tsx';

// The page at `/studio/present/:stream_id`: a show for the wall behind its host, or to lie over a
// picture in OBS.

const options = presentOptionsOf(location.href);
document.documentElement.classList.toggle('overlay', options.isOverlay);
// Another key in the fragment of the same address loads nothing by itself.
addEventListener('hashchange', () => location.reload());

const show = new PresentedShow(presentBrowser(options.streamId, options.key), options.holdMs);
const root = document.getElementById('root');
if (!root) throw new Error('the page has no place for it');
createRoot(root).render(<Wall show={show} options={options} />);
