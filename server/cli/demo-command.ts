import type { Command } from '@commander-js/extra-typings';
import { SETTINGS } from '../platform/config.ts';
import { parseWholeNumber } from './values.ts';

/** `demo` (SPEC O-17). */
export function addDemoCommand(program: Command, setStatus: (status: number) => void): void {
  program
    .command('demo')
    .description(
      'run a server with a show and simulated viewers, and check what the viewers receive',
    )
    .option(
      '--viewers <number>',
      'number of viewers (default 200)',
      parseWholeNumber(1, 100_000),
      200,
    )
    .option(
      '--port <number>',
      'port of the server; 0 picks a free port (default 4250)',
      SETTINGS.port.parse,
      4250,
    )
    .option(
      '--quiz-every <seconds>',
      'time between quizzes (default 20)',
      parseWholeNumber(5, 3_600),
      20,
    )
    .option(
      '--duration <seconds>',
      'end after this time (default: run until Ctrl-C)',
      parseWholeNumber(1, 86_400),
    )
    .option(
      '--data <directory>',
      'directory of the database (default: temporary)',
      SETTINGS.data.parse,
    )
    .option('--no-video', 'without video, which needs a part of a CPU core')
    .option('--plain', 'print lines instead of a dashboard')
    .action(async (options) => {
      const { runDemo } = await import('../../demo/demo.ts');
      setStatus(await runDemo(options));
    });
}
