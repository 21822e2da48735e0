import { fileURLToPath } from 'node:url';
import { IncorrectResponse } from './bench.ts';
import { type Pinned, SERVER_CORE, startPinned, waitForOutput } from './pinned.ts';
import { temporaryFolder } from './temporary-folder.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
// Without media, which would open ports of its own.
const ROLES = 'api,auth,view-counts,polls,events,studio';
const UNLIMITED_RATE = '100000000/1';
const RATE_OPTIONS = ['tokens', 'failed-auth', 'studio', 'answers', 'chat'].flatMap((rate) => [
  `--rate-${rate}`,
  UNLIMITED_RATE,
]);
const TOKEN_CONCURRENCY = 64;
const TOKEN_ATTEMPTS = 4;
const TOKEN_RETRY_MS = 1_000;

/** Our service on one core, with an account of a producer and a started stream. */
export interface Fourbeat {
  readonly url: string;
  readonly streamId: string;
  readonly server: Pinned;
  /** Calls the studio API with the account. @throws IncorrectResponse for an error status */
  studio<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Tokens of the viewers number `first`, `first + 1` and so on. The same number is always the same viewer. */
  tokens(count: number, first?: number, streamId?: string): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a server. @param settings options of `serve`, including the location of its database */
export async function startNode(
  settings: readonly string[],
  core = SERVER_CORE,
  env: Record<string, string> = {},
): Promise<Pick<Fourbeat, 'url' | 'server'>> {
  const command = [
    PROGRAM,
    ...['serve', '--host', '127.0.0.1', '--port', '0', '--roles', ROLES, '--log-level', 'warn'],
    ...RATE_OPTIONS,
    ...settings,
  ];
  const server = startPinned(core, command, { env });
  const [, url = ''] = await waitForOutput(server, /listening on (\S+)/);
  return { url, server };
}

/** Runs rounds one after the other, each with a new server. @returns their results */
export async function inRounds<T>(
  rounds: number,
  run: (fourbeat: Fourbeat, round: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const fourbeat = await startFourbeat();
    try {
      results.push(await run(fourbeat, round));
    } finally {
      await fourbeat.stop();
    }
  }
  return results;
}

/** Starts a server with an account and a stream. @param settings further options of `serve` */
export async function startFourbeat(
  settings: readonly string[] = [],
  core = SERVER_CORE,
  env: Record<string, string> = {},
): Promise<Fourbeat> {
  const folder = temporaryFolder('bench');
  const dataOption = settings.includes('--database') ? [] : ['--data', folder.path];
  const database = settings.slice(
    settings.indexOf('--database'),
    settings.indexOf('--database') + 2,
  );
  const account = Bun.spawnSync([
    PROGRAM,
    ...['account', 'create', '--email', `${crypto.randomUUID()}@example.org`, '--name', 'Bench'],
    ...(dataOption.length > 0 ? dataOption : database),
  ]);
  if (account.exitCode !== 0) throw new Error(`cannot create an account: ${account.stderr}`);
  const { token } = JSON.parse(account.stdout.toString());
  const { url, server } = await startNode([...dataOption, ...settings], core, env);

  async function studio<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}/studio/v1${path}`, {
      method,
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new IncorrectResponse(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? null : await response.json()) as T;
  }

  // Retries after a 503, since issuing tokens is not measured here.
  async function tokenOf(
    streamId: string,
    viewer: number,
    tries = TOKEN_ATTEMPTS,
  ): Promise<string> {
    const response = await fetch(`${url}/api/v1/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ stream_id: streamId, unique_user_identifier: `viewer ${viewer}` }),
    });
    if (response.status === 200) return ((await response.json()) as { token: string }).token;
    if (response.status !== 503 || tries === 1)
      throw new IncorrectResponse(`a token: ${response.status}`);
    await Bun.sleep(TOKEN_RETRY_MS);
    return tokenOf(streamId, viewer, tries - 1);
  }

  const { id: streamId } = await studio<{ id: string }>('POST', '/streams', { title: 'Bench' });
  await studio('POST', `/streams/${streamId}/start`);
  return {
    url,
    streamId,
    server,
    studio,
    tokens: async (count, first = 0, of = streamId) => {
      const tokens: string[] = [];
      for (let at = 0; at < count; at += TOKEN_CONCURRENCY) {
        const some = Array.from(
          { length: Math.min(TOKEN_CONCURRENCY, count - at) },
          (_, n) => first + at + n,
        );
        tokens.push(...(await Promise.all(some.map((viewer) => tokenOf(of, viewer)))));
      }
      return tokens;
    },
    stop: async () => {
      await server.stop();
      folder.remove();
    },
  };
}
