import { createRoot } from 'react-dom/client';
import { StudioApp } from './studio-app.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root element');
createRoot(root).render(<StudioApp />);
