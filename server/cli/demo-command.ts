import type { Command } from '@commander-js/extra-typings';
import { SETTINGS } from '../platform/config.ts';
import { wholeNumber } from './values.ts';

/** `demo` (SPEC O-17). */
export function addDemoCommand(program: Command, end: (status: number) => void): void {
  program
    .command('demo')
    .description('run a server, a show and its viewers, and check what they see')
    .option('--viewers <number>', 'how many viewers (default 200)', wholeNumber(1, 100_000), 200)
    .option(
      '--port <number>',
      'port of the server; 0 takes any that is free (default 4250)',
      SETTINGS.port.parse,
      4250,
    )
    .option('--quiz-every <seconds>', 'a quiz this often (default 20)', wholeNumber(5, 3_600), 20)
    .option(
      '--duration <seconds>',
      'end after this long (default: when it is told to)',
      wholeNumber(1, 86_400),
    )
    .option('--data <directory>', 'keep the database here (default: nowhere)', SETTINGS.data.parse)
    .option('--no-video', 'without video, which takes a part of a processor')
    .option('--plain', 'print lines instead of a dashboard')
    .action(async (options) => {
      const { runDemo } = await import('../../demo/demo.ts');
      end(await runDemo(options));
    });
}
