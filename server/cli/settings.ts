import { type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  type Config,
  configFrom,
  defaultOf,
  flagNameOf,
  SETTING_KEYS,
  SETTINGS,
  type SettingValues,
  variableNameOf,
} from '../platform/config.ts';

/** The option of a setting, read from its flag or else from its variable. */
function optionOf(key: keyof SettingValues): Option {
  const { value, help, default: fallback, defaultMeaning, parse } = SETTINGS[key];
  const named = value === null ? '[true|false]' : `<${value}>`;
  const option = new Option(`--${flagNameOf(key)} ${named}`, help)
    .env(variableNameOf(key))
    .default(defaultOf(key), defaultMeaning ?? fallback)
    .argParser((text: string) => {
      try {
        return parse(text);
      } catch (error) {
        throw new InvalidArgumentError((error as Error).message);
      }
    });
  return value === null ? option.preset('true') : option;
}

const SECRETS = SETTING_KEYS.filter((key) => SETTINGS[key].isSecret).map(flagNameOf);
const SECRET_VALUE = new RegExp(
  `(option '--(?:${SECRETS.join('|')}) <url>') (?:argument '.*'|value '.*'( from env '\\w+')) is invalid`,
  's',
);

/** What the library says of a wrong value, without the value when it may hold a password. */
export function withoutSecrets(complaint: string): string {
  return complaint.replace(SECRET_VALUE, (_, option, from = '') => `${option}${from} is invalid`);
}

/** Gives a command settings of the service as options. */
export function addSettings(
  command: CommandUnknownOpts,
  keys: readonly (keyof SettingValues)[],
): void {
  for (const key of keys) command.addOption(optionOf(key));
}

/** The config that the options of a command with all settings came to. */
export function configOfCommand(command: CommandUnknownOpts): Config {
  // The library turns a value of null into an empty text, which no setting has.
  const values = Object.entries(command.opts()).map(([key, value]) => [
    key,
    value === '' ? null : value,
  ]);
  try {
    return configFrom(Object.fromEntries(values) as SettingValues);
  } catch (error) {
    // Settings that do not go together are as wrong as one by itself (O-8).
    return command.error(`error: ${(error as Error).message}`);
  }
}

/** Settings of the commands that work on a record. */
export const RECORD_SETTINGS = ['data', 'database', 'logLevel'] as const;

/** Where a record is: in PostgreSQL, or else in a data directory. */
export type DatabaseLocation = Pick<SettingValues, 'data' | 'database'>;

/** The database of a command that has the settings of these. */
export function recordOf(command: CommandUnknownOpts): DatabaseLocation {
  const { data, database } = command.opts() as DatabaseLocation;
  return { data, database: database || null };
}

/** Where a record is, for people: without credentials. */
export function nameOfPlace({ data, database }: DatabaseLocation): string {
  if (database === null) return data;
  const { host, pathname } = new URL(database);
  return `PostgreSQL at ${host}${pathname}`;
}

/** The producer's API token, for commands that speak to a running service: no setting of the service. */
export const TOKEN_VARIABLE = 'FOURBEAT_TOKEN';

/**
 * A variable that is set to nothing is not set: compose files and unit files write them so.
 * @returns names that begin like a setting's and are none, probably misspelt
 */
export function tidyEnvironment(env: NodeJS.ProcessEnv): string[] {
  const known = new Set([...SETTING_KEYS.map(variableNameOf), TOKEN_VARIABLE]);
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('FOURBEAT_')) continue;
    if (!known.has(name)) unknown.push(name);
    else if (value === '') delete env[name];
  }
  return unknown;
}

/** Every setting as a table for docs/configuration.md. */
export function settingsAsMarkdown(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { value, help, default: fallback, defaultMeaning } = SETTINGS[key];
    const flag = value === null ? `--${flagNameOf(key)}` : `--${flagNameOf(key)} <${value}>`;
    const shown = fallback === '' ? defaultMeaning : `\`${fallback}\``;
    const meant = fallback !== '' && defaultMeaning ? ` (${defaultMeaning})` : '';
    return `| \`${flag}\` | \`${variableNameOf(key)}\` | ${shown}${meant} | ${help} |`;
  });
  return ['| Flag | Variable | Default | What it does |', '|---|---|---|---|', ...rows].join('\n');
}
