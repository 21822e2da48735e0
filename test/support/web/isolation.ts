import type { Page } from 'playwright-core';

// People's words may run from right to left. In a text of the page they reorder the words and numbers
// around them, unless their element isolates them: `<bdi>` in a line, `dir="auto"` on a block.

/** Words of a person, in Hebrew with a bracket and an exclamation mark: order and isolation are visible. */
export const wordsOf = (what: string) => `\u05e9\u05dc\u05d5\u05dd (${what})!`;

/** Texts and fields with words of `wordsOf` that are not isolated, and isolated ones with other words. */
const NOT_ISOLATED = `(() => {
  const words = /[\\u05d0-\\u05ea]/;
  const isolated = /^[\\u05d0-\\u05ea][^!]*!(?:\\s\\d+)?$/;
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    // Text for screen readers only has no order on screen.
    if (!words.test(data) || parentElement.closest('.unseen, .sr-only, script, noscript')) continue;
    const isolating = parentElement.closest('bdi, [dir="auto"]');
    const text = (isolating?.textContent ?? '').trim();
    if (!isolated.test(text)) found.push(isolating ? 'mixed: ' + text : data);
  }
  for (const field of document.querySelectorAll('input, textarea')) {
    if (words.test(field.value) && field.type !== 'hidden' && field.dir !== 'auto') {
      found.push('field: ' + field.value);
    }
  }
  return found;
})()`;

export const notIsolated = (page: Page) => page.evaluate<readonly string[]>(NOT_ISOLATED);
