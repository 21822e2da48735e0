/** A host and port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a `--redis` address says. */
export interface RedisTarget {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly tls: boolean;
  /** The server; some servers of the cluster; or the Sentinels. Never empty. */
  readonly addresses: readonly Address[];
  /** Of the servers. Sentinels have credentials of their own. */
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  /** The number of the database; a cluster has 0 alone. */
  readonly db: number;
  /** What the Sentinels call the primary; empty without Sentinels. */
  readonly primaryName: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26379;
const FORMS =
  'It must be redis://host:6379, redis+cluster://host:6379,host:6379 or ' +
  'redis+sentinel://host:26379,host:26379/name; rediss in place of redis uses TLS.';

/**
 * Takes an address apart: `redis[s][+cluster|+sentinel]://[user[:password]@]host[:port],…[/…]`. The
 * path is the number of the database, or with Sentinels the name of the primary and then, if it is
 * not 0, the number. Credentials of the Sentinels are `?sentinel_user=` and `?sentinel_password=`.
 * @throws Error that says what is wrong and repeats nothing of the address, for it holds a password
 */
export function parseRedisUrl(text: string): RedisTarget {
  const match =
    /^redis(?<s>s?)(?:\+(?<kind>cluster|sentinel))?:\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/@?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/.exec(
      text,
    )?.groups;
  if (!match) throw new Error(FORMS);
  const kind = (match.kind ?? 'single') as RedisTarget['kind'];
  const defaultPort = kind === 'sentinel' ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT;
  const addresses = (match.hosts ?? '').split(',').map((host) => addressOf(host, defaultPort));
  if (kind === 'single' && addresses.length > 1) {
    throw new Error('Several hosts need redis+cluster:// or redis+sentinel://.');
  }
  return {
    kind,
    tls: match.s === 's',
    addresses,
    ...credentialsOf(match.user),
    ...sentinelCredentialsOf(kind, match.query),
    ...placeOf(kind, match.path ?? ''),
  };
}

function addressOf(text: string, defaultPort: number): Address {
  const match = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/i.exec(
    text,
  );
  const host = match?.groups?.v6 ?? match?.groups?.name;
  const port = Number(match?.groups?.port ?? defaultPort);
  if (host === undefined || port < 1 || port > 65_535) throw new Error(FORMS);
  return { host, port };
}

function credentialsOf(text: string | undefined): Pick<RedisTarget, 'username' | 'password'> {
  if (text === undefined) return { username: null, password: null };
  const colon = text.indexOf(':');
  const username = decoded(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decoded(text.slice(colon + 1));
  if (password === '')
    throw new Error('The password is missing: user:password@host or :password@host.');
  return { username: username === '' ? null : username, password };
}

function sentinelCredentialsOf(
  kind: RedisTarget['kind'],
  query: string | undefined,
): Pick<RedisTarget, 'sentinelUsername' | 'sentinelPassword'> {
  const parameters = new URLSearchParams(query ?? '');
  const known = kind === 'sentinel' ? ['sentinel_user', 'sentinel_password'] : [];
  if ([...parameters.keys()].some((name) => !known.includes(name))) {
    throw new Error('The only parameters are sentinel_user and sentinel_password, for Sentinels.');
  }
  return {
    sentinelUsername: parameters.get('sentinel_user'),
    sentinelPassword: parameters.get('sentinel_password'),
  };
}

function placeOf(kind: RedisTarget['kind'], path: string): Pick<RedisTarget, 'db' | 'primaryName'> {
  const parts = path === '' ? [] : path.split('/').map(decoded);
  const primaryName = kind === 'sentinel' ? (parts.shift() ?? '') : '';
  if (kind === 'sentinel' && primaryName === '') {
    throw new Error('The name of the primary is missing: redis+sentinel://host:26379/name.');
  }
  const db = parts.shift() ?? '0';
  if (!/^\d{1,5}$/.test(db) || parts.length > 0) {
    throw new Error('What follows the host must be the number of a database.');
  }
  if (kind === 'cluster' && Number(db) !== 0) throw new Error('A cluster has only database 0.');
  return { primaryName, db: Number(db) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('A % in the address must be followed by two hexadecimal digits.');
  }
}
