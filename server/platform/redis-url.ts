export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** A parsed `--redis` URL. */
export interface RedisAddress {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly tls: boolean;
  /** The server, some servers of the cluster, or the Sentinels. Never empty. */
  readonly addresses: readonly HostPort[];
  /** Credentials of the servers; those of the Sentinels are separate. */
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  /** A cluster has only database 0. */
  readonly databaseNumber: number;
  /** Name of the primary at the Sentinels; empty without Sentinels. */
  readonly primaryName: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26379;
const FORMAT_MESSAGE =
  'It must be redis://host:6379, redis+cluster://host:6379,host:6379 or ' +
  'redis+sentinel://host:26379,host:26379/name; rediss in place of redis uses TLS.';

/**
 * Parses a URL: `redis[s][+cluster|+sentinel]://[user[:password]@]host[:port],…[/…]`. The
 * path is the number of the database, or with Sentinels the name of the primary and then, if it is
 * not 0, the number. Credentials of the Sentinels are `?sentinel_user=` and `?sentinel_password=`.
 * @throws Error with a sentence for the operator, without any part of the URL: it has a password
 */
export function parseRedisUrl(text: string): RedisAddress {
  const match =
    /^redis(?<s>s?)(?:\+(?<kind>cluster|sentinel))?:\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/@?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/.exec(
      text,
    )?.groups;
  if (!match) throw new Error(FORMAT_MESSAGE);
  const kind = (match.kind ?? 'single') as RedisAddress['kind'];
  const defaultPort = kind === 'sentinel' ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT;
  const addresses = (match.hosts ?? '').split(',').map((host) => parseAddress(host, defaultPort));
  if (kind === 'single' && addresses.length > 1) {
    throw new Error('Several hosts need redis+cluster:// or redis+sentinel://.');
  }
  return {
    kind,
    tls: match.s === 's',
    addresses,
    ...parseCredentials(match.user),
    ...parseSentinelCredentials(kind, match.query),
    ...parsePath(kind, match.path ?? ''),
  };
}

function parseAddress(text: string, defaultPort: number): HostPort {
  const match = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/i.exec(
    text,
  );
  const host = match?.groups?.v6 ?? match?.groups?.name;
  const port = Number(match?.groups?.port ?? defaultPort);
  if (host === undefined || port < 1 || port > 65_535) throw new Error(FORMAT_MESSAGE);
  return { host, port };
}

function parseCredentials(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined) return { username: null, password: null };
  const colon = text.indexOf(':');
  const username = decodeComponent(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decodeComponent(text.slice(colon + 1));
  if (password === '')
    throw new Error('The password is missing: user:password@host or :password@host.');
  return { username: username === '' ? null : username, password };
}

function parseSentinelCredentials(
  kind: RedisAddress['kind'],
  query: string | undefined,
): Pick<RedisAddress, 'sentinelUsername' | 'sentinelPassword'> {
  const parameters = new URLSearchParams(query ?? '');
  const allowedNames = kind === 'sentinel' ? ['sentinel_user', 'sentinel_password'] : [];
  if ([...parameters.keys()].some((name) => !allowedNames.includes(name))) {
    throw new Error('The only parameters are sentinel_user and sentinel_password, for Sentinels.');
  }
  return {
    sentinelUsername: parameters.get('sentinel_user'),
    sentinelPassword: parameters.get('sentinel_password'),
  };
}

function parsePath(
  kind: RedisAddress['kind'],
  path: string,
): Pick<RedisAddress, 'databaseNumber' | 'primaryName'> {
  const parts = path === '' ? [] : path.split('/').map(decodeComponent);
  const primaryName = kind === 'sentinel' ? (parts.shift() ?? '') : '';
  if (kind === 'sentinel' && primaryName === '') {
    throw new Error('The name of the primary is missing: redis+sentinel://host:26379/name.');
  }
  const database = parts.shift() ?? '0';
  if (!/^\d{1,5}$/.test(database) || parts.length > 0) {
    throw new Error('The path must be the number of a database.');
  }
  if (kind === 'cluster' && Number(database) !== 0)
    throw new Error('A cluster has only database 0.');
  return { primaryName, databaseNumber: Number(database) };
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('A % in the address must be followed by two hexadecimal digits.');
  }
}
