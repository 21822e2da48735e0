// Preloaded into a server whose memory is measured. It collects garbage every second, so that the
// resident memory is what the server really uses.

const EVERY_MS = 1_000;

setInterval(() => Bun.gc(true), EVERY_MS).unref();
