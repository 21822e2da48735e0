import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { programEnvironment } from '../../platform/program-environment.ts';
import { videoEncoder } from './video-encoders.ts';

/** A run takes a tenth of a second; a program that hangs counts as missing. */
const RUN_TIMEOUT_MS = 10_000;
const OUTPUT_BYTES_MAX = 1 << 20;

/** The input of the test run; hardware encoders accept this size. */
const TEST_INPUT = 'color=size=320x240:rate=30:duration=0.1';
const TEST_RATE = { maxBitsPerS: 1_000_000, bufferBits: 1_000_000 };

/**
 * Runs ffmpeg and ffprobe and encodes a few frames, so that a missing program, encoder, preset or
 * device is known before the first source.
 * @returns why ffmpeg cannot be used and what to do, in one line for the operator; null when it can
 */
export async function checkFfmpeg(options: {
  readonly ffmpeg: string;
  readonly encoder: string;
  readonly preset: string;
}): Promise<string | null> {
  const { ffmpeg, encoder, preset } = options;
  const ffprobe = ffprobeBeside(ffmpeg);
  const [test, probe] = await Promise.all([
    run(ffmpeg, ...testArguments(encoder, preset)),
    run(ffprobe, '-version'),
  ]);
  if (test.isSuccess && probe.isSuccess) return null;
  const version = parseVersion((await run(ffmpeg, '-version')).output);
  if (version === null || !probe.isSuccess) {
    const program = version === null ? ffmpeg : ffprobe;
    return missingMessage(program, process.platform, await osRelease());
  }
  const encoders = await run(ffmpeg, '-encoders');
  if (!wordsIn(encoders.output).has(encoder)) {
    return `${ffmpeg} ${version} has no video encoder ${encoder}: choose another with --media-encoder (ffmpeg -encoders lists them)`;
  }
  return `${ffmpeg} ${version} cannot encode with --media-encoder ${encoder} and --media-preset ${preset}: ${firstLineOf(test.errors)}`;
}

function testArguments(name: string, preset: string): string[] {
  const { device, filters, options } = videoEncoder(name);
  return [
    ...['-loglevel', 'error', ...device, '-f', 'lavfi', '-i', TEST_INPUT],
    ...['-vf', ['format=yuv420p', ...filters].join(','), '-c:v', name],
    ...options(preset, TEST_RATE),
    ...['-f', 'null', '-'],
  ];
}

function firstLineOf(text: string): string {
  return text.trim().split('\n')[0] || 'no error message';
}

/** Path of the ffprobe that belongs to an ffmpeg. */
export function ffprobeBeside(ffmpeg: string): string {
  const name = basename(ffmpeg).replace('ffmpeg', 'ffprobe');
  const ffprobe = name === basename(ffmpeg) ? 'ffprobe' : name;
  return ffmpeg.includes('/') ? join(dirname(ffmpeg), ffprobe) : ffprobe;
}

/** @param release contents of `/etc/os-release`; empty without one */
export function missingMessage(program: string, platform: string, release: string): string {
  const command = installCommand(platform, release);
  return `${program} was not found, so video cannot be encoded. Install it: ${command}`;
}

function installCommand(platform: string, release: string): string {
  if (platform === 'darwin') return 'brew install ffmpeg';
  if (platform === 'win32') return 'winget install ffmpeg';
  const families = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)]
    .flatMap(([, value = '']) => value.replace(/["']/g, '').split(/\s+/))
    .map((family) => INSTALL_COMMANDS[family])
    .filter((command) => command !== undefined);
  return families[0] ?? 'see https://ffmpeg.org/download.html';
}

const INSTALL_COMMANDS: Readonly<Record<string, string>> = {
  debian: 'sudo apt-get install ffmpeg',
  ubuntu: 'sudo apt-get install ffmpeg',
  // Only the build of RPM Fusion has H.264.
  fedora: 'sudo dnf install --allowerasing ffmpeg (from RPM Fusion, for H.264)',
  rhel: 'sudo dnf install --allowerasing ffmpeg (from RPM Fusion, for H.264)',
  alpine: 'apk add ffmpeg',
  arch: 'sudo pacman -S ffmpeg',
  suse: 'sudo zypper install ffmpeg',
  opensuse: 'sudo zypper install ffmpeg',
};

function parseVersion(text: string): string | null {
  return /^ffmpeg version (\S+)/.exec(text)?.[1] ?? null;
}

/** The first two words of each line. */
function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').flatMap((line) => line.trim().split(/\s+/).slice(0, 2)));
}

interface RunResult {
  readonly isSuccess: boolean;
  readonly output: string;
  readonly errors: string;
}

function run(program: string, ...args: readonly string[]): Promise<RunResult> {
  return new Promise((resolve) => {
    execFile(
      program,
      ['-hide_banner', ...args],
      {
        env: programEnvironment(),
        timeout: RUN_TIMEOUT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: OUTPUT_BYTES_MAX,
      },
      (error, output, errors) => resolve({ isSuccess: error === null, output, errors }),
    );
  });
}

async function osRelease(): Promise<string> {
  try {
    return await readFile('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
