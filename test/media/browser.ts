import { type Browser, type BrowserContext, chromium } from 'playwright-core';

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

/** Makes all of a page's network as slow as this. */
export async function limitNetwork(context: BrowserContext, bitsPerS: number): Promise<void> {
  for (const page of context.pages()) {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: bitsPerS / 8,
      uploadThroughput: -1,
    });
  }
}
