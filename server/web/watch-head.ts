import type { ShownShow } from '../../protocol/show-page.ts';

/** The parts of `watch.html` that depend on the show. */
const TITLE = '<title>Watch · Fourbeat</title>';
const ROOT = '<div id="root"></div>';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/**
 * The HTML of the watch page of a show: title, link preview (Open Graph), and the show itself for the
 * page's script, so that the first picture needs no request.
 * @param html `watch.html`. @param url the absolute URL of the page
 */
export function watchHtml(html: string, show: ShownShow, url: string): string {
  const { title, description, poster_url, color, unlisted } = show;
  const head = [
    `<title>${escapeHtml(title)}</title>`,
    ...(description === null ? [] : [named('description', description)]),
    ...(color === null ? [] : [named('theme-color', color)]),
    ...(unlisted ? [named('robots', 'noindex')] : []),
    property('og:type', 'video.other'),
    property('og:title', title),
    ...(description === null ? [] : [property('og:description', description)]),
    property('og:url', url),
    ...(poster_url === null ? [] : [property('og:image', poster_url)]),
    named('twitter:card', poster_url === null ? 'summary' : 'summary_large_image'),
  ];
  const root = `<div id="root" data-show="${escapeHtml(JSON.stringify(show))}"></div>`;
  // Functions: a replacement text would expand `$&` in the words of the show.
  return html.replace(TITLE, () => head.join('\n    ')).replace(ROOT, () => root);
}

const named = (name: string, content: string) =>
  `<meta name="${name}" content="${escapeHtml(content)}">`;
const property = (name: string, content: string) =>
  `<meta property="${name}" content="${escapeHtml(content)}">`;
