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

/** The command line option of a setting, with its environment variable. */
function optionOf(key: keyof SettingValues): Option {
  const { placeholder, help, default: fallback, defaultMeaning, parse } = SETTINGS[key];
  const argument = placeholder === null ? '[true|false]' : `<${placeholder}>`;
  const option = new Option(`--${flagNameOf(key)} ${argument}`, help)
    .env(variableNameOf(key))
    .default(defaultOf(key), defaultMeaning ?? fallback)
    .argParser((text: string) => {
      try {
        return parse(text);
      } catch (error) {
        throw new InvalidArgumentError((error as Error).message);
      }
    });
  return placeholder === null ? option.preset('true') : option;
}

const SECRET_FLAGS = SETTING_KEYS.filter((key) => SETTINGS[key].isSecret).map(flagNameOf);
const INVALID_SECRET = new RegExp(
  `(option '--(?:${SECRET_FLAGS.join('|')}) <\\w+>') (?:argument '.*'|value '.*'( from env '\\w+')) is invalid`,
  's',
);

/** Removes values that may contain a secret from an error message of Commander. */
export function redactSecrets(message: string): string {
  return message.replace(INVALID_SECRET, (_, option, from = '') => `${option}${from} is invalid`);
}

export function addSettings(
  command: CommandUnknownOpts,
  keys: readonly (keyof SettingValues)[],
): void {
  for (const key of keys) command.addOption(optionOf(key));
}

/** The configuration from the options of a command that has all settings. */
export function configFromCommand(command: CommandUnknownOpts): Config {
  // Commander turns a parsed null into an empty string, which no setting is parsed to.
  const values = Object.entries(command.opts()).map(([key, value]) => [
    key,
    value === '' ? null : value,
  ]);
  try {
    return configFrom(Object.fromEntries(values) as SettingValues);
  } catch (error) {
    // Contradicting settings are an error like an invalid value (O-8).
    return command.error(`error: ${(error as Error).message}`);
  }
}

/** Settings of commands that work on a database. */
export const DATABASE_SETTINGS = ['data', 'database', 'logLevel'] as const;

/** Location of the database: PostgreSQL, or a data directory. */
export type DatabaseLocation = Pick<SettingValues, 'data' | 'database'>;

export function databaseLocationOf(command: CommandUnknownOpts): DatabaseLocation {
  const { data, database } = command.opts() as DatabaseLocation;
  return { data, database: database || null };
}

/** The database location for people, without credentials. */
export function describeLocation({ data, database }: DatabaseLocation): string {
  if (database === null) return data;
  const { host, pathname } = new URL(database);
  return `PostgreSQL at ${host}${pathname}`;
}

/** API token for commands that call a running service; it is not a setting of the service. */
export const TOKEN_VARIABLE = 'FOURBEAT_TOKEN';

/**
 * Removes settings with an empty value, as compose files and unit files write them.
 * @returns unknown variables that have the prefix of settings, probably misspelled
 */
export function normalizeEnvironment(env: NodeJS.ProcessEnv): string[] {
  const knownVariables = new Set([...SETTING_KEYS.map(variableNameOf), TOKEN_VARIABLE]);
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('FOURBEAT_')) continue;
    if (!knownVariables.has(name)) unknown.push(name);
    else if (value === '') delete env[name];
  }
  return unknown;
}

/** All settings as a Markdown table, for docs/configuration.md. */
export function settingsAsMarkdown(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { placeholder, help, default: fallback, defaultMeaning } = SETTINGS[key];
    const flag = `--${flagNameOf(key)}${placeholder === null ? '' : ` <${placeholder}>`}`;
    const shown = fallback === '' ? defaultMeaning : `\`${fallback}\``;
    const meaning = fallback !== '' && defaultMeaning ? ` (${defaultMeaning})` : '';
    return `| \`${flag}\` | \`${variableNameOf(key)}\` | ${shown}${meaning} | ${help} |`;
  });
  return ['| Flag | Variable | Default | What it does |', '|---|---|---|---|', ...rows].join('\n');
}
