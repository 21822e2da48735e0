import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { SETTINGS } from '../platform/config.ts';
import { TOKEN_VARIABLE } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseId, parsePictureSize, parseWholeNumber } from './values.ts';

/** `media play` (SPEC M-9). Loads the player code only when the command runs. */
export function addMediaCommand(program: Command, terminal: Terminal): void {
  const media = program.command('media').description('send video to a stream');
  const command = media
    .command('play')
    .description(
      'send a file to a stream; without FILE, a test picture that shows the time and the interval',
    )
    .argument('[file]', 'any video that ffmpeg reads')
    .requiredOption('--stream <id>', 'id of the stream', parseId)
    .option('--url <url>', 'address of the service (default http://localhost:4250)', parseOrigin)
    .addOption(new Option('--token <token>', 'API token of the producer').env(TOKEN_VARIABLE))
    .option(
      '--data <directory>',
      'read the stream key from the database in this directory, without a token',
      SETTINGS.data.parse,
    )
    .addOption(new Option('--loop', 'repeat the file').conflicts('once'))
    .option('--once', 'play the file once (default)')
    .option('--size <size>', 'size of the test picture (default 640x360)', parsePictureSize)
    .option(
      '--fps <number>',
      'frame rate of the test picture (default 25)',
      parseWholeNumber(5, 60),
    )
    .option('--ffmpeg <program>', 'name or path of ffmpeg (default ffmpeg)', SETTINGS.ffmpeg.parse)
    .option('--plain', 'print lines, even on a terminal');
  command.action(async (file, options) => {
    const { loop, token, data, size = { width: 640, height: 360 }, fps = 25 } = options;
    if (file === undefined && loop) command.error('error: --loop needs a FILE');
    if (!token && data === undefined) {
      command.error(`error: set --token, ${TOKEN_VARIABLE} or --data`);
    }
    const { playToStream } = await import('./media-play.ts');
    await playToStream({
      input:
        file === undefined
          ? { kind: 'picture', ...size, frameRate: fps }
          : { kind: 'file', path: file, loop: loop ?? false },
      streamId: options.stream,
      origin: options.url ?? 'http://localhost:4250',
      token: token || null,
      data: data ?? null,
      ffmpeg: options.ffmpeg ?? 'ffmpeg',
      plain: options.plain ?? false,
      print: terminal.print,
    });
  });
}

function parseOrigin(text: string): string {
  const url = /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw new InvalidArgumentError('It must be an origin, such as http://localhost:4250.');
}
