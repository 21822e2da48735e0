import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { newSocketPath } from './origin-server.ts';

// A `linux` path is no file and works on Linux only. A `darwin` path is a file and works on Linux too.
const platforms =
  process.platform === 'linux' ? (['linux', 'darwin'] as const) : ['darwin' as const];
for (const platform of platforms) {
  test(`newSocketPath for ${platform} gives a new path, and leaves no files`, async () => {
    const { path, remove } = newSocketPath(platform);
    const second = newSocketPath(platform);
    second.remove();
    expect(second.path).not.toBe(path);
    const server = Bun.serve({ unix: path, fetch: () => new Response('here') });
    try {
      expect(await (await fetch('http://localhost/', { unix: path })).text()).toBe('here');
      if (platform === 'darwin') expect(statSync(dirname(path)).mode & 0o077).toBe(0);
    } finally {
      await server.stop(true);
      remove();
    }
    // On Linux the path is a NUL byte and an abstract name, which must not become a file.
    expect(existsSync(platform === 'linux' ? path.slice(1) : dirname(path))).toBe(false);
  });
}
