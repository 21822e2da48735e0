import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFfmpeg, ffprobeBeside, missingMessage } from './find-ffmpeg.ts';

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-ffmpeg-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function program(name: string, script: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('ffmpeg', () => {
  const problemOf = (ffmpeg: string, encoder = 'libx264', preset = 'veryfast') =>
    checkFfmpeg({ ffmpeg, encoder, preset });

  test('[M-44] an installed ffmpeg can be used', async () => {
    expect(await problemOf('ffmpeg')).toBeNull();
  });

  test('[M-44] a missing ffmpeg gives one line with the install command', async () => {
    const line = await problemOf(join(directory, 'none'));
    expect(line).toStartWith(`${join(directory, 'none')} was not found, `);
    expect(line).not.toContain('\n');
  });

  test('[M-44] ffmpeg without ffprobe counts as missing', async () => {
    const ffmpeg = program('ffmpeg', 'echo "ffmpeg version 9.9 and more"');
    const line = await problemOf(ffmpeg);
    expect(line).toStartWith(`${join(directory, 'ffprobe')} was not found, `);
  });

  test('[M-15] ffmpeg without the configured encoder is reported with its version', async () => {
    const line = await problemOf('ffmpeg', 'h264_none');
    expect(line).toMatch(/^ffmpeg [\dnN]\S* has no video encoder h264_none: choose another/);
  });

  test.each([
    ['libx264', 'nosuch', /--media-encoder libx264 and --media-preset nosuch: .*nosuch/],
    // Debian's ffmpeg has it, but the device is missing.
    ['h264_vaapi', 'veryfast', /--media-encoder h264_vaapi and .*: .*\/dev\/dri/],
  ])(
    '[M-15] ffmpeg that cannot encode with %s and %s gives the reason',
    async (encoder, preset, expected) => {
      const line = await problemOf('ffmpeg', encoder, preset);
      expect(line).toMatch(expected);
      expect(line).not.toContain('\n');
    },
  );

  test('[M-44] another program is not accepted as ffmpeg', async () => {
    const ffmpeg = program('other', 'echo "I am no ffmpeg"');
    expect(await problemOf(ffmpeg)).toStartWith(`${ffmpeg} was not found, `);
  });

  test('ffprobe is looked up beside ffmpeg', () => {
    expect(ffprobeBeside('ffmpeg')).toBe('ffprobe');
    expect(ffprobeBeside('ffmpeg7')).toBe('ffprobe7');
    expect(ffprobeBeside('/opt/ffmpeg/bin/ffmpeg')).toBe('/opt/ffmpeg/bin/ffprobe');
    expect(ffprobeBeside('/opt/bin/encoder')).toBe('/opt/bin/ffprobe');
  });

  test.each([
    ['linux', 'ID=debian\nVERSION_ID="12"\n', 'sudo apt-get install ffmpeg'],
    ['linux', 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', 'apt-get'],
    ['linux', 'ID=fedora\n', 'sudo dnf install'],
    ['linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install'],
    ['linux', 'ID=alpine\n', 'apk add ffmpeg'],
    ['linux', 'ID=arch\n', 'sudo pacman -S ffmpeg'],
    ['linux', '', 'see https://ffmpeg.org/download.html'],
    ['darwin', '', 'brew install ffmpeg'],
    ['win32', '', 'winget install ffmpeg'],
  ])('[M-44] the message for %s (%p) has its install command', (platform, release, command) => {
    const line = missingMessage('ffmpeg', platform, release);
    expect(line).toStartWith('ffmpeg was not found, so video cannot be encoded. Install it: ');
    expect(line).toContain(command);
  });
});
