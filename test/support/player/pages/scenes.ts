import { FourbeatError } from '../../../../sdk/errors.ts';
import { CHAT_SCENES } from './chat-scenes.ts';
import { CONTACT_SCENES } from './contact-scenes.ts';
import { type FakeViewer, fakeViewer, STREAM } from './fake-viewer.ts';
import { PRODUCT_SCENES } from './product-scenes.ts';
import { QUIZ_SCENES } from './quiz-scenes.ts';
import { SHOW_SCENES } from './show-scenes.ts';

// The scenes of the fixture page, by name: `/?scene=quiz-open`.

export const SCENES: Readonly<Record<string, () => FakeViewer>> = {
  joining: () => fakeViewer({ state: 'joining', stream: null, count: null }),
  lobby: () => fakeViewer({ stream: { ...STREAM, status: 'CREATED' } }),
  live: () => fakeViewer(),
  waiting: () => fakeViewer({ stream: { ...STREAM, hls_url: '/media/show/none.m3u8' } }),
  unavailable: () =>
    fakeViewer({
      state: 'offline',
      error: new FourbeatError('unavailable', 'no answer'),
      stream: null,
    }),
  unknown: () =>
    fakeViewer({
      state: 'offline',
      error: new FourbeatError('unknown', 'no stream', 404),
      stream: null,
    }),
  ended: () => fakeViewer({ state: 'ended', stream: { ...STREAM, status: 'ENDED' } }),
  ...CHAT_SCENES,
  ...CONTACT_SCENES,
  ...PRODUCT_SCENES,
  ...QUIZ_SCENES,
  ...SHOW_SCENES,
};
