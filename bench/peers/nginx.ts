import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../test/support/backends/free-port.ts';
import { binaryOf } from '../../test/support/backends/server-programs.ts';
import { SERVER_CORE, startPinned } from '../run/pinned.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';
import { type Peer, waitForResponse } from './peer.ts';

/**
 * Starts nginx with one worker on one core and minimal work: no log, keep-alive connections, open files
 * cached.
 * @param location lines of the `server` block, such as a `location`
 * @param files contents by path, in the folder `FILES` of the configuration
 * @param modules paths of modules to load
 */
export async function startNginx(
  location: string,
  files: Readonly<Record<string, string>> = {},
  modules: readonly string[] = [],
): Promise<Peer> {
  const folder = temporaryFolder('nginx');
  const directory = folder.path;
  // The worker of an nginx that root starts has another user.
  chmodSync(directory, 0o755);
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configOf(port, directory, location, modules));
  const errors = join(directory, 'error.log');
  const server = startPinned(SERVER_CORE, [
    binaryOf('nginx', 'nginx'),
    ...['-p', directory, '-c', file, '-e', errors],
  ]);
  const url = `http://127.0.0.1:${port}`;
  await waitForResponse(url);
  return {
    url,
    server,
    stop: async () => {
      await server.stop();
      folder.remove();
    },
  };
}

function configOf(
  port: number,
  directory: string,
  location: string,
  modules: readonly string[],
): string {
  return `
${modules.map((path) => `load_module ${path};`).join('\n')}
daemon off;
worker_processes 1;
worker_rlimit_nofile 200000;
pid ${directory}/nginx.pid;
events { worker_connections 150000; multi_accept on; }
http {
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=1000 inactive=60s;
  open_file_cache_valid 60s;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  types { }
  default_type application/json;
  client_body_temp_path ${directory}/client;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  server {
    listen 127.0.0.1:${port} backlog=65535;
    ${location.replaceAll('FILES', directory)}
  }
}
`;
}
