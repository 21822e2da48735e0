// Preloaded by a service that is measured: on SIGUSR2 it collects its garbage. What a stream leaves (13 KB) is
// otherwise kept for thousands of streams, and says nothing about what the service holds.
process.on('SIGUSR2', () => Bun.gc(true));
