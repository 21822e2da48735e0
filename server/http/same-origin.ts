/**
 * Whether a browser says that the page of another origin sent a request. Programs that are no browsers
 * say nothing, and are no danger: they have nobody's cookies.
 * @param origin where browsers reach the service, such as `https://live.example.org`
 */
export function isFromElsewhere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  // Pages on another port of this host are "same-site", and cookies do not know of ports.
  if (site !== null && site !== 'same-origin' && site !== 'none') return true;
  const sender = request.headers.get('origin');
  return sender !== null && sender !== new URL(origin).origin && !isOfHost(sender, request);
}

// Behind a proxy that ends TLS, and without a public URL, the scheme here is not that of the browser.
function isOfHost(sender: string, request: Request): boolean {
  return URL.parse(sender)?.host === URL.parse(request.url)?.host;
}
