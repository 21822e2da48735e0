import { ROLES, type Role } from '../../protocol/operation.ts';
import {
  MEDIA_SETTINGS,
  type MediaConfig,
  type MediaSettingValues,
  splitMediaConfig,
} from './media-settings.ts';
import { type AddressPolicy, type Network, parseNetworks } from './network-policy.ts';
import type { RateLimit } from './rate-limiter.ts';
import {
  checkRedisUrl,
  parseBaseUrl,
  parseBoolean,
  parseDatabaseUrl,
  parseDirectory,
  parseHost,
  parseInteger,
  parseOneOf,
  parseOrigin,
  parseRateLimit,
  parseRoles,
  parseToken,
  type Setting,
} from './setting-values.ts';

/** Log levels, from most to least output. `silent` writes nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** The configuration of a running service (O-7). */
export interface Config {
  /** Address to listen on; null: every address of the machine, IPv4 and IPv6. */
  readonly host: string | null;
  /** Port to listen on; 0: any free port. */
  readonly port: number;
  /** Threads that answer viewers; 1: only the main thread. */
  readonly workers: number;
  /** The data directory, absolute. */
  readonly data: string;
  /** URL of the PostgreSQL database, with credentials; null: SQLite in `data`. */
  readonly database: string | null;
  /** URL of Redis or Valkey for the realtime backend, with credentials; null: in this process. */
  readonly redis: string | null;
  /** Redis replicas that must acknowledge a write before it counts (WAIT). */
  readonly redisReplicas: number;
  readonly roles: ReadonlySet<Role>;
  /** Base of absolute links and issuer of tokens, without a trailing slash; null: not set. */
  readonly publicUrl: string | null;
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  /** Whether the client's address is taken from `X-Forwarded-For`. */
  readonly trustProxy: boolean;
  /** The bearer token of `/metrics`; null: it needs a local address (O-12). */
  readonly metricsToken: string | null;
  /** Who may request viewer tokens: everyone, or only the owner of the stream (T-16). */
  readonly tokenAuth: 'open' | 'producer';
  /** Whether a shared cache that checks tokens itself may store sealed intervals (F-18). */
  readonly edgeCache: boolean;
  readonly rates: Rates;
  readonly tokenCacheSize: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly media: MediaConfig;
  /** Addresses that webhooks may reach (H-3, H-12). */
  readonly webhooks: AddressPolicy;
}

/** Rate limits (SPEC L): by address, by viewer or by account. */
export interface Rates {
  readonly tokens: RateLimit;
  readonly failedAuth: RateLimit;
  readonly answers: RateLimit;
  readonly chat: RateLimit;
  readonly studio: RateLimit;
  readonly signIn: RateLimit;
  readonly passwords: RateLimit;
}

/** The configuration as a flat list: one value for each flag. */
export type SettingValues = Omit<Config, 'rates' | 'media' | 'webhooks'> & {
  readonly webhookAllowHttp: boolean;
  readonly webhookAllowPrivate: readonly Network[];
} & {
  readonly [Key in keyof Rates as `rate${Capitalize<Key>}`]: RateLimit;
} & MediaSettingValues;

export const SETTINGS: { readonly [Key in keyof SettingValues]: Setting<SettingValues[Key]> } = {
  host: {
    placeholder: 'address',
    help: 'address to listen on',
    default: '*',
    defaultMeaning: 'every address, IPv4 and IPv6',
    parse: (text) => (text === '*' ? null : parseHost(text)),
  },
  port: {
    placeholder: 'number',
    help: 'port to listen on; 0 picks a free port',
    default: '4250',
    parse: parseInteger(0, 65_535),
  },
  workers: {
    placeholder: 'number',
    help: 'threads that answer heartbeats and feed requests, one for each core that viewers may use; 1: one thread does everything',
    default: '1',
    parse: parseInteger(1, 64),
  },
  data: {
    placeholder: 'directory',
    help: 'directory of the database; created when it is missing',
    default: './fourbeat-data',
    parse: parseDirectory,
  },
  database: {
    placeholder: 'url',
    help: 'PostgreSQL database, for several nodes: postgres://user:password@host/name',
    default: '',
    defaultMeaning: 'the database is in the data directory',
    isSecret: true,
    parse: (text) => (text === '' ? null : parseDatabaseUrl(text)),
  },
  redis: {
    placeholder: 'url',
    help: 'Redis or Valkey that the nodes share: redis://, rediss://, redis+cluster:// or redis+sentinel://host:port,…/name',
    default: '',
    defaultMeaning: 'none: one process is the whole service',
    isSecret: true,
    parse: (text) => (text === '' ? null : checkRedisUrl(text)),
  },
  redisReplicas: {
    placeholder: 'number',
    help: 'Redis replicas that must acknowledge a write before it counts (WAIT)',
    default: '0',
    parse: parseInteger(0, 10),
  },
  roles: {
    placeholder: 'list',
    help: `parts of the service that run in this process: ${ROLES.join(', ')}`,
    default: 'all',
    parse: parseRoles,
  },
  publicUrl: {
    placeholder: 'url',
    help: 'address at which clients reach the service, for links and tokens',
    default: '',
    defaultMeaning: 'the host of each request in links, localhost and the port in tokens',
    parse: (text) => (text === '' ? null : parseBaseUrl(text)),
  },
  corsOrigin: {
    placeholder: 'origin',
    help: 'origin whose pages may call the service; * allows every origin',
    default: '*',
    parse: (text) => (text === '*' ? text : parseOrigin(text)),
  },
  trustProxy: {
    placeholder: null,
    help: 'take the client address from the last entry of X-Forwarded-For',
    default: 'false',
    parse: parseBoolean,
  },
  metricsToken: {
    placeholder: 'token',
    help: 'bearer token that /metrics needs, from any address',
    default: '',
    defaultMeaning: 'none: loopback and private addresses may read it',
    isSecret: true,
    parse: (text) => (text === '' ? null : parseToken(text)),
  },
  tokenAuth: {
    placeholder: 'who',
    help: 'who gets viewer tokens of a stream: open (everyone) or producer (only with the service token of its owner)',
    default: 'open',
    parse: parseOneOf(['open', 'producer']),
  },
  edgeCache: {
    placeholder: null,
    help: 'let a shared cache store sealed intervals; the cache must check tokens itself',
    default: 'false',
    parse: parseBoolean,
  },
  rateTokens: rateSetting(
    'viewer tokens per address, or per account with --token-auth=producer',
    '6000/60',
  ),
  rateFailedAuth: rateSetting('failed authentications per address', '1200/60'),
  rateAnswers: rateSetting('answers and winner reports per viewer', '30/10'),
  rateChat: rateSetting('chat posts per viewer', '20/10'),
  rateStudio: rateSetting('studio requests per account', '1200/60'),
  rateSignIn: rateSetting('sign-in attempts and uses of links per address', '30/60'),
  ratePasswords: rateSetting('password attempts per client and email address', '10/60'),
  tokenCacheSize: {
    placeholder: 'number',
    help: 'number of verified viewer tokens in the cache, about 0.25 KB each',
    default: '200000',
    parse: parseInteger(1, 10_000_000),
  },
  webhookAllowHttp: {
    placeholder: null,
    help: 'allow webhooks to plain http addresses; their content is not encrypted on the network',
    default: 'false',
    parse: parseBoolean,
  },
  webhookAllowPrivate: {
    placeholder: 'networks',
    help: 'private networks that webhooks may reach, such as 10.0.0.0/8,fd00::/8',
    default: '',
    defaultMeaning: 'none',
    parse: parseNetworks,
  },
  logLevel: {
    placeholder: 'level',
    help: `lowest level that is logged: ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    parse: parseOneOf(LOG_LEVELS),
  },
  ...MEDIA_SETTINGS,
};

/** Keys of all settings, in the order of `SETTINGS`. */
export const SETTING_KEYS = Object.keys(SETTINGS) as (keyof SettingValues)[];

/** The flag of a setting, without the leading dashes: `some-name` for `someName`. */
export function flagNameOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The environment variable of a setting: `FOURBEAT_SOME_NAME` for `someName`. */
export function variableNameOf(key: string): string {
  return `FOURBEAT_${flagNameOf(key).replaceAll('-', '_').toUpperCase()}`;
}

export function defaultOf<Key extends keyof SettingValues>(key: Key): SettingValues[Key] {
  return SETTINGS[key].parse(SETTINGS[key].default);
}

/**
 * Builds the configuration from setting values.
 * @throws Error with a sentence for the operator when settings contradict each other
 */
export function configFrom(values: SettingValues): Config {
  const { database, redis, publicUrl } = values;
  if ((database === null) !== (redis === null)) {
    throw new Error(
      'Set both --database and --redis, or neither: nodes that share a database also share Redis.',
    );
  }
  if (database !== null && publicUrl === null) {
    throw new Error(
      'Set --public-url together with --database: the tokens of one node must be valid on all nodes.',
    );
  }
  const { rateTokens, rateFailedAuth, rateAnswers, rateChat, rateStudio, ...rest } = values;
  const { rateSignIn, ratePasswords, webhookAllowHttp, webhookAllowPrivate, ...others } = rest;
  const { config, media } = splitMediaConfig(others, values.data);
  return {
    ...config,
    media,
    webhooks: { allowHttp: webhookAllowHttp, allowPrivate: webhookAllowPrivate },
    rates: {
      tokens: rateTokens,
      failedAuth: rateFailedAuth,
      answers: rateAnswers,
      chat: rateChat,
      studio: rateStudio,
      signIn: rateSignIn,
      passwords: ratePasswords,
    },
  };
}

/** The default configuration with some members replaced. */
export function createConfig(replaced: Partial<Config> = {}): Config {
  const defaults = Object.fromEntries(SETTING_KEYS.map((key) => [key, defaultOf(key)]));
  return { ...configFrom(defaults as unknown as SettingValues), ...replaced };
}

function rateSetting(counted: string, fallback: string): Setting<RateLimit> {
  return {
    placeholder: 'n/seconds',
    help: `maximum number of ${counted}`,
    default: fallback,
    parse: parseRateLimit,
  };
}

/** The environment variables of the process. Nothing else in the server reads them. */
export function processEnvironment(): Record<string, string | undefined> {
  return process.env;
}
