import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The programs that encode, as they are on this machine. */
export interface FoundFfmpeg {
  readonly ffmpeg: string;
  readonly ffprobe: string;
  /** As it says itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** It can send and receive SRT. */
  readonly hasSrt: boolean;
}

/** Why there is no video here. */
export interface MissingFfmpeg {
  /** One line for the operator, with what to do. */
  readonly missing: string;
}

/** Each answer takes a tenth of a second; a program that hangs is as good as none. */
const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 1 << 20;

/**
 * Looks at ffmpeg once.
 * @param wanted the program, and the video encoder that it must have
 */
export async function findFfmpeg(wanted: {
  readonly ffmpeg: string;
  readonly encoder: string;
}): Promise<FoundFfmpeg | MissingFfmpeg> {
  const { ffmpeg, encoder } = wanted;
  const ffprobe = ffprobeBeside(ffmpeg);
  const [said, probeSaid] = await Promise.all([ask(ffmpeg, '-version'), ask(ffprobe, '-version')]);
  const version = said === null ? null : versionIn(said);
  if (version === null || probeSaid === null) {
    const [what] = version === null ? [ffmpeg] : [ffprobe];
    return { missing: missingLine(what, process.platform, await osRelease()) };
  }
  const [encoders, protocols] = await Promise.all([
    ask(ffmpeg, '-encoders'),
    ask(ffmpeg, '-protocols'),
  ]);
  if (!namesIn(encoders ?? '').has(encoder)) {
    return {
      missing: `${ffmpeg} ${version} has no video encoder ${encoder}: choose another with --media-encoder (ffmpeg -encoders lists them)`,
    };
  }
  return { ffmpeg, ffprobe, version, hasSrt: namesIn(protocols ?? '').has('srt') };
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

function ask(program: string, question: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(
      program,
      ['-hide_banner', question],
      { timeout: ANSWER_MS, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES_MAX },
      (error, stdout) => resolve(error ? null : stdout),
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
