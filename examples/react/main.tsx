import { createRoot } from 'react-dom/client';
import { Show } from './show.tsx';

// An app with accounts passes the id of its user instead.
localStorage.viewerId ??= crypto.getRandomValues(new Uint32Array(4)).join('-');

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <Show baseUrl="https://live.example" streamId="STREAM" viewerId={localStorage.viewerId} />,
  );
}
