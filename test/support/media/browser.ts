import { type Browser, chromium, type Page } from 'playwright-core';

// Without background network access, and with playback that needs no user gesture.
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
  ...['--autoplay-policy=no-user-gesture-required', '--mute-audio'],
];

/** Launches the system's Chromium. @param args additional arguments */
export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: [...ARGUMENTS, ...args] });
}

/**
 * Throttles a page's network. Uses one CDP session, since limits of other sessions would remain.
 * @returns a function that sets the download rate in bit/s
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
