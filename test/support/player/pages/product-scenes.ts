import type { Product } from '../../../../sdk/types.ts';
import { messagesOf } from './chat-scenes.ts';
import { type FakeViewer, fakeViewer, STREAM } from './fake-viewer.ts';

/** A drawn mug, so that no scene needs the network. */
const PICTURE = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 56 56"><rect width="56" height="56" fill="#f3c14b"/><path d="M16 16h20v24H16zM36 22h6v10h-6" fill="#fff" stroke="#5b34d6" stroke-width="3"/></svg>',
)}`;

export const MUG: Product = {
  id: '1f2e3d4c-5b6a-4978-8685-94a3b2c1d0e9',
  name: 'Quiz night mug',
  picture_url: PICTURE,
  price: 1_250,
  currency: 'EUR',
  url: 'https://shop.example.org/mug',
  stock: 4,
};

const LONG: Product = {
  ...MUG,
  name: 'The complete collection of all questions of the first ten seasons, signed by everyone',
  price: 123_456_700,
  currency: 'HUF',
  stock: null,
};

function selling(product: Product): FakeViewer {
  return fakeViewer({ messages: messagesOf(14), stream: { ...STREAM, product } });
}

export const PRODUCT_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  product: () => selling(MUG),
  'product-long': () => selling(LONG),
  'product-sold-out': () => selling({ ...MUG, stock: 0 }),
  'product-without-picture': () => selling({ ...MUG, picture_url: null, stock: 900 }),
};
