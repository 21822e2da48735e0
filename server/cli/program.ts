import { Command, CommanderError, type Option } from '@commander-js/extra-typings';
import packageJson from '../../package.json' with { type: 'json' };
import { SETTING_KEYS } from '../platform/config.ts';
import { addAccountCommands, addTokenCommands } from './account-commands.ts';
import { addClockCommands } from './clock-commands.ts';
import { addDemoCommand } from './demo-command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMediaCommand } from './media-command.ts';
import { addMemberCommands } from './member-commands.ts';
import {
  addSettings,
  configFromCommand,
  normalizeEnvironment,
  redactSecrets,
  settingsAsMarkdown,
} from './settings.ts';
import { oneLine, type Terminal } from './terminal.ts';

const USAGE_STATUS = 2;
const FAILURE_STATUS = 1;

const EXAMPLES = `
Examples:
  $ fourbeat demo                    a complete show that checks itself
  $ fourbeat serve                   the service on port 4250
  $ fourbeat serve --port 80 --data /var/lib/fourbeat --public-url https://live.example.org
  $ fourbeat account create --email ann@example.org --name Ann
  $ fourbeat token list --email ann@example.org
  $ fourbeat member link --email ann@example.org
  $ fourbeat media play show.mp4 --stream ID --token fb_… --loop

Every setting is a flag and a variable: --log-level debug is FOURBEAT_LOG_LEVEL=debug.`;

/**
 * Runs one command line.
 * @param args the arguments after the program name
 * @returns the exit status: 0 success, 1 failure, 2 invalid command line (O-6, O-8)
 */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const unknownVariables = normalizeEnvironment(terminal.env);
  let status = 0;
  let showsStack = false;
  const program = createProgram(terminal);
  program.hook('preAction', (_, command) => {
    showsStack = command.opts().logLevel === 'debug';
    if (command.name() === 'serve') return; // `serve` logs them.
    for (const name of unknownVariables) {
      terminal.printError(`fourbeat: ${name} is not a setting; check its spelling`);
    }
  });
  const setStatus = (newStatus: number) => {
    status = newStatus;
  };
  addServeCommand(program, unknownVariables, setStatus);
  addDemoCommand(program, setStatus);
  addAccountCommands(program, terminal);
  addTokenCommands(program, terminal);
  addMemberCommands(program, terminal);
  addKeyCommands(program, terminal);
  addClockCommands(program, terminal);
  addMediaCommand(program, terminal);
  program
    .command('settings')
    .description('print all settings as a Markdown table')
    .action(() => terminal.print(settingsAsMarkdown()));
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_STATUS;
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    terminal.printError(showsStack ? (stack ?? message) : `fourbeat: ${oneLine(message)}`);
    return FAILURE_STATUS;
  }
}

/** The program without its commands, which inherit its output and exit handling. */
function createProgram(terminal: Terminal) {
  return new Command('fourbeat')
    .description('A live event audience service: exact counts, quizzes and one feed for everyone.')
    .version(packageJson.version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .configureHelp({ optionDescription })
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
      outputError: (text, write) =>
        write(`fourbeat: ${oneLine(redactSecrets(text).replace(/^error: /, '') + hintFor(text))}`),
    })
    .exitOverride();
}

/** npm consumes flags without a preceding `--`, and passes on only their values. */
function hintFor(error: string): string {
  return error.includes("too many arguments for 'demo'")
    ? ' With npm, put -- before the flags: npm start -- --viewers 20'
    : '';
}

function optionDescription({ description, defaultValueDescription, envVar }: Option): string {
  const facts = [
    ...(defaultValueDescription === undefined ? [] : [`default ${defaultValueDescription}`]),
    ...(envVar === undefined ? [] : [envVar]),
  ];
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

function addServeCommand(
  program: Command,
  unknownVariables: readonly string[],
  setStatus: (status: number) => void,
): void {
  const command = program.command('serve').description('run the service');
  addSettings(command, SETTING_KEYS);
  command.action(async () => {
    const { serve } = await import('./serve.ts');
    setStatus(await serve(configFromCommand(command), packageJson.version, unknownVariables));
  });
}
