import { fileURLToPath } from 'node:url';
import { WrongAnswer } from './bench.ts';
import { lineOf, type Pinned, SERVER_CORE, startPinned } from './pinned.ts';
import { temporaryFolder } from './temporary.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
// Video is measured elsewhere, and opens ports of its own.
const ROLES = 'api,auth,view-counts,polls,events,studio';
const UNLIMITED = '100000000/1';
const LIMITS = ['tokens', 'failed-auth', 'studio', 'answers', 'chat'].flatMap((rate) => [
  `--rate-${rate}`,
  UNLIMITED,
]);
const TOKENS_AT_ONCE = 64;
const TOKEN_TRIES = 4;
const TOKEN_AGAIN_MS = 1_000;

/** Our service on one core, with an account and a stream that is on air. */
export interface Fourbeat {
  readonly url: string;
  readonly streamId: string;
  readonly server: Pinned;
  /** A call of the studio, by the account. @throws WrongAnswer when it is refused */
  studio<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Tokens of so many viewers: those of the seats from `first` on. */
  tokens(count: number, first?: number, streamId?: string): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a server as an operator would. @param settings flags of `serve`, among them where its record is */
export async function startNode(
  settings: readonly string[],
  core = SERVER_CORE,
  env: Record<string, string> = {},
): Promise<Pick<Fourbeat, 'url' | 'server'>> {
  const command = [
    PROGRAM,
    ...['serve', '--host', '127.0.0.1', '--port', '0', '--roles', ROLES, '--log-level', 'warn'],
    ...LIMITS,
    ...settings,
  ];
  const server = startPinned(core, command, { env });
  const [, url = ''] = await lineOf(server, /listening on (\S+)/);
  return { url, server };
}

/** The same, with an account and a stream. @param settings further flags of `serve` */
export async function startFourbeat(
  settings: readonly string[] = [],
  core = SERVER_CORE,
  env: Record<string, string> = {},
): Promise<Fourbeat> {
  const folder = temporaryFolder('bench');
  const place = settings.includes('--database') ? [] : ['--data', folder.path];
  const database = settings.slice(
    settings.indexOf('--database'),
    settings.indexOf('--database') + 2,
  );
  const account = Bun.spawnSync([
    PROGRAM,
    ...['account', 'create', '--email', `${crypto.randomUUID()}@example.org`, '--name', 'Bench'],
    ...(place.length > 0 ? place : database),
  ]);
  if (account.exitCode !== 0) throw new Error(`no account was made: ${account.stderr}`);
  const { token } = JSON.parse(account.stdout.toString());
  const { url, server } = await startNode([...place, ...settings], core, env);

  async function studio<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}/studio/v1${path}`, {
      method,
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new WrongAnswer(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? null : await response.json()) as T;
  }

  // A record that is behind says so: whoever wants a token asks again, and it is not measured here.
  async function tokenOf(streamId: string, viewer: number, tries = TOKEN_TRIES): Promise<string> {
    const response = await fetch(`${url}/api/v1/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ stream_id: streamId, unique_user_identifier: `viewer ${viewer}` }),
    });
    if (response.status === 200) return ((await response.json()) as { token: string }).token;
    if (response.status !== 503 || tries === 1)
      throw new WrongAnswer(`a token: ${response.status}`);
    await Bun.sleep(TOKEN_AGAIN_MS);
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
      for (let at = 0; at < count; at += TOKENS_AT_ONCE) {
        const some = Array.from(
          { length: Math.min(TOKENS_AT_ONCE, count - at) },
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
