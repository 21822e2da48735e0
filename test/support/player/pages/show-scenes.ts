import type { ShownShow } from '../../../../protocol/show-page.ts';
import { type FakeViewer, fakeViewer, STREAM } from './fake-viewer.ts';

const POSTER = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="900"><rect width="1600" height="900" fill="#f4b942"/><circle cx="1150" cy="450" r="380" fill="#fff3d0"/></svg>',
)}`;
const LOGO = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="64"><rect width="200" height="64" rx="12" fill="#e4572e"/></svg>',
)}`;

const SHOW: ShownShow = {
  title: 'The big autumn quiz night with everything that grows in a garden',
  unlisted: false,
  description:
    'Ten questions, three prizes, and Grace from the greenhouse. Bring a pencil, a friend and something warm to drink.',
  poster_url: POSTER,
  logo_url: LOGO,
  color: '#e4572e',
  startsAt: null,
};

const messages = Array.from({ length: 6 }, (_, number) => ({
  ...{ id: `message ${number}`, viewer: 'a', name: 'Ada', kind: 'message' as const },
  ...{ text: `Good evening ${number}!`, at: 1_790_000_000_000 + number },
}));

/** The shows of the scenes below. */
export const SHOWS: Readonly<Record<string, ShownShow>> = {
  'show-lobby': { ...SHOW, startsAt: Date.now() + 754_000 },
  'show-lobby-days': { ...SHOW, poster_url: null, startsAt: Date.now() + 300_000_000 },
  'show-live': SHOW,
  'show-over': { ...SHOW, logo_url: null },
};

export const SHOW_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  'show-lobby': () => fakeViewer({ stream: { ...STREAM, status: 'CREATED' }, messages }),
  'show-lobby-days': () => fakeViewer({ stream: { ...STREAM, status: 'CREATED' } }),
  'show-live': () => fakeViewer({ messages }),
  'show-over': () =>
    fakeViewer({
      state: 'ended',
      stream: { ...STREAM, status: 'ENDED', hls_url: '/media/show/none.m3u8' },
      messages,
    }),
};
