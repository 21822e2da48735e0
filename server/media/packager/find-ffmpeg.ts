import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { videoEncoder } from './video-encoders.ts';

/** The programs that encode, as they are on this machine. */
export interface FoundFfmpeg {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /** As it says itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
}

/** Why there is no video here. */
export interface MissingFfmpeg {
  /** One line for the operator, with what to do. */
  readonly missing: string;
}

/** Each answer takes a tenth of a second; a program that hangs is as good as none. */
const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 1 << 20;

/** Any will do; it is of a size that encoders in hardware take. */
const TRIAL = 'color=size=320x240:rate=30:duration=0.1';
const TRIAL_RATE = { maxBitsPerS: 1_000_000, bufferBits: 1_000_000 };

/**
 * Looks at ffmpeg once, and has it encode a few pictures: what its encoder, preset or hardware
 * lacks is known before the first source.
 * @param wanted the program, and what it must be able to do
 */
export async function findFfmpeg(wanted: {
  readonly ffmpeg: string;
  readonly encoder: string;
  readonly preset: string;
}): Promise<FoundFfmpeg | MissingFfmpeg> {
  const { ffmpeg, encoder, preset } = wanted;
  const ffprobe = ffprobeBeside(ffmpeg);
  const answers = await Promise.all([ask(ffmpeg, '-version'), ask(ffprobe, '-version')]);
  const [said, probeSaid] = answers.map(({ isDone, text }) => (isDone ? text : null));
  const version = said ? versionIn(said) : null;
  if (version === null || probeSaid === null) {
    const [what] = version === null ? [ffmpeg] : [ffprobe];
    return { missing: missingLine(what, process.platform, await osRelease()) };
  }
  const encoders = await ask(ffmpeg, '-encoders');
  if (!namesIn(encoders.text).has(encoder)) {
    return {
      missing: `${ffmpeg} ${version} has no video encoder ${encoder}: choose another with --media-encoder (ffmpeg -encoders lists them)`,
    };
  }
  const trial = await ask(ffmpeg, ...trialArguments(encoder, preset));
  if (!trial.isDone) {
    return {
      missing: `${ffmpeg} ${version} cannot encode with --media-encoder ${encoder} and --media-preset ${preset}: ${firstLineOf(trial.errors)}`,
    };
  }
  return { ffmpeg, ffprobe, version };
}

function trialArguments(name: string, preset: string): string[] {
  const { device, filters, options } = videoEncoder(name);
  return [
    ...['-loglevel', 'error', ...device, '-f', 'lavfi', '-i', TRIAL],
    ...['-vf', ['format=yuv420p', ...filters].join(','), '-c:v', name],
    ...options(preset, TRIAL_RATE),
    ...['-f', 'null', '-'],
  ];
}

function firstLineOf(text: string): string {
  return text.trim().split('\n')[0] || 'it says nothing';
}

/** ffprobe comes with ffmpeg, and has its name. */
export function ffprobeBeside(ffmpeg: string): string {
  const name = basename(ffmpeg).replace('ffmpeg', 'ffprobe');
  const ffprobe = name === basename(ffmpeg) ? 'ffprobe' : name;
  return ffmpeg.includes('/') ? join(dirname(ffmpeg), ffprobe) : ffprobe;
}

/** @param release the text of `/etc/os-release`; empty without one */
export function missingLine(program: string, platform: string, release: string): string {
  const command = installCommand(platform, release);
  return `${program} is not there: no video can be encoded. Install it: ${command}`;
}

function installCommand(platform: string, release: string): string {
  if (platform === 'darwin') return 'brew install ffmpeg';
  if (platform === 'win32') return 'winget install ffmpeg';
  const families = [...release.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)]
    .flatMap(([, value = '']) => value.replace(/["']/g, '').split(/\s+/))
    .map((family) => INSTALL[family])
    .filter((command) => command !== undefined);
  return families[0] ?? 'see https://ffmpeg.org/download.html';
}

const INSTALL: Readonly<Record<string, string>> = {
  debian: 'sudo apt-get install ffmpeg',
  ubuntu: 'sudo apt-get install ffmpeg',
  // Of RPM Fusion's and of its own the first has H.264; both are called by the same command.
  fedora: 'sudo dnf install --allowerasing ffmpeg (from RPM Fusion, for H.264)',
  rhel: 'sudo dnf install --allowerasing ffmpeg (from RPM Fusion, for H.264)',
  alpine: 'apk add ffmpeg',
  arch: 'sudo pacman -S ffmpeg',
  suse: 'sudo zypper install ffmpeg',
  opensuse: 'sudo zypper install ffmpeg',
};

function versionIn(text: string): string | null {
  return /^ffmpeg version (\S+)/.exec(text)?.[1] ?? null;
}

/** Every word that a line could be about. */
function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.split('\n').flatMap((line) => line.trim().split(/\s+/).slice(0, 2)));
}

interface Answer {
  readonly isDone: boolean;
  readonly text: string;
  readonly errors: string;
}

function ask(program: string, ...question: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(
      program,
      ['-hide_banner', ...question],
      { timeout: ANSWER_MS, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES_MAX },
      (error, text, errors) => resolve({ isDone: error === null, text, errors }),
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
