import type { Page } from 'playwright-core';
import { INJECTED, RUN } from './hostile-texts.ts';

/** Script that notices a script of a text. It must run first in every page and frame. */
export const TRAP = `globalThis.${RUN} = () => { globalThis.hasRunInjected = true; };`;

/** URLs in links, pictures and frames that run nothing. */
export const HARMLESS_URL = /^(?:https?:|blob:|data:image\/|data:,|[/#]|$)/;

/** What is in a page or frame. */
export interface Inspection {
  /** Its words, also those of attributes and fields. */
  readonly text: string;
  /** Number of elements that came from a text. */
  readonly injected: number;
  /** Whether a script of a text has run. */
  readonly hasRun: boolean;
  /** What its elements link to or load. */
  readonly urls: readonly string[];
}

// `data-show` is not visible; the page's script reads it.
const INSPECT = `(() => {
  const hasRun = globalThis.hasRunInjected === true;
  const found = { text: document.title, injected: 0, hasRun, urls: [] };
  const add = (text) => { found.text += ' ' + text; };
  const visit = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) visit(element.shadowRoot);
      if (element.hasAttribute('${INJECTED}')) found.injected++;
      for (const { name, value } of element.attributes) {
        if (name !== 'data-show') add(value);
        if (/^(?:href|src|action|formaction|data|srcdoc)$/.test(name)) found.urls.push(value);
      }
      if (typeof element.value === 'string') add(element.value);
    }
    add(root.textContent ?? root.body.textContent);
  };
  visit(document);
  return found;
})()`;

/** Inspects a page and its frames. */
export const inspect = (page: Page): Promise<Inspection[]> =>
  Promise.all(page.frames().map((frame) => frame.evaluate<Inspection>(INSPECT)));

/** Pages that others may frame. */
const FRAMED = /\/watch\/[^/]+$/;

/** What the Content-Security-Policy of a page allows, but must not. */
export function policyFaults(headers: Headers, url: string): string[] {
  const policy = headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')] as const;
    }),
  );
  const expected = {
    'default-src': ["'none'"],
    'script-src': ["'self'", undefined],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': [FRAMED.test(new URL(url).pathname) ? '*' : "'none'"],
  };
  return Object.entries(expected).flatMap(([name, values]) => {
    const value = directives.get(name);
    return values.some((allowed) => allowed === value) ? [] : [`${name} ${value}`];
  });
}
