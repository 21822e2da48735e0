import { expect, test } from 'bun:test';
import { embedCode } from './share-links.ts';

test('the embed code is one frame of the viewer page, whatever the title contains', () => {
  const stream = { id: '7d2c', title: 'Q&A "live" </iframe><script>' };
  const code = embedCode('https://live.example', stream);
  const found: Record<string, string | null>[] = [];
  new HTMLRewriter()
    .on('*', {
      element: (element) => {
        const { tagName } = element;
        found.push({
          tagName,
          src: element.getAttribute('src'),
          title: element.getAttribute('title'),
        });
      },
    })
    .transform(code);
  expect(found).toEqual([
    {
      tagName: 'iframe',
      src: 'https://live.example/watch/7d2c?embed&amp;chat',
      title: 'Q&amp;A &quot;live&quot; &lt;/iframe>&lt;script>',
    },
  ]);
});
