import { type Browser, chromium, type Page } from 'playwright-core';

// Everything that reaches out by itself is off: tests stay on this machine.
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
  ...['--autoplay-policy=no-user-gesture-required', '--mute-audio'],
];

/** The system's Chromium. @param more arguments that a test needs */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: [...ARGUMENTS, ...more] });
}

/**
 * Makes a page's network slower, again and again. By one session: the limit of another would stay.
 * @returns a function that sets how many bit/s come in
 */
export async function networkLimiter(page: Page): Promise<(bitsPerS: number) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  return async (bitsPerS) => {
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: bitsPerS / 8,
      uploadThroughput: -1,
    });
  };
}
