import { expect, test } from 'bun:test';
import {
  fileArguments,
  isDisguisedPlaylist,
  parseProbeOutput,
  testPictureArguments,
} from './play-arguments.ts';

const line = (args: readonly string[]) => args.join(' ');

test('[M-9] the test picture is encoded without latency and with a key frame each second', () => {
  expect(line(testPictureArguments(25))).toBe(
    '-hide_banner -nostdin -nostats -loglevel error -fflags nobuffer -analyzeduration 0 ' +
      '-probesize 32 -f matroska -i pipe:0 -map 0:v -map 0:a -c:v libx264 -preset ultrafast ' +
      '-tune zerolatency -pix_fmt yuv420p -g 25 -crf 22 -c:a aac -b:a 96k -f flv ' +
      '-flvflags no_duration_filesize -flush_packets 1 pipe:1',
  );
});

test('[M-9] a file whose codecs Matroska holds is copied in real time', () => {
  const infoOf = { video: 'h264', audio: 'aac', isRotated: false };
  expect(line(fileArguments('show.mp4', false, infoOf))).toBe(
    '-hide_banner -nostdin -nostats -loglevel error -fflags +genpts -re -i file:show.mp4 ' +
      '-map 0:V:0 -map 0:a:0 -map_metadata -1 -c:v copy -c:a copy -f matroska ' +
      '-cluster_time_limit 0 -flush_packets 1 pipe:1',
  );
});

test.each([
  ['a codec that Matroska players may lack', { video: 'wmv3', audio: 'wmav2', isRotated: false }],
  ['a rotated video', { video: 'h264', audio: 'pcm_u8', isRotated: true }],
])('[M-9] %s is transcoded', (_, infoOf) => {
  const args = line(fileArguments('a', false, infoOf));
  expect(args).toContain(' -c:v libx264 ');
  expect(args).toContain(' -c:a aac ');
  expect(args).not.toContain('copy');
});

test('[M-9] a looped file without audio, named like an option, gets safe arguments', () => {
  const args = line(fileArguments('-y', true, { video: 'vp9', audio: null, isRotated: false }));
  expect(args).toContain(' -stream_loop -1 -i file:-y ');
  expect(args).not.toContain('a:0');
  expect(args).not.toContain('-c:a');
});

test('the probe parser ignores cover pictures and finds rotation', () => {
  const cover = { codec_type: 'video', codec_name: 'mjpeg', disposition: { attached_pic: 1 } };
  const audio = { codec_type: 'audio', codec_name: 'mp3', disposition: { attached_pic: 0 } };
  const video = { codec_type: 'video', codec_name: 'hevc', disposition: { attached_pic: 0 } };
  const rotated = { ...video, side_data_list: [{}, { rotation: -90 }] };
  const infoOf = (...streams: object[]) => parseProbeOutput(JSON.stringify({ streams }));
  expect(infoOf(cover, audio)).toEqual({ video: null, audio: 'mp3', isRotated: false });
  expect(infoOf(cover, video)).toEqual({ video: 'hevc', audio: null, isRotated: false });
  expect(infoOf(rotated, audio)).toEqual({ video: 'hevc', audio: 'mp3', isRotated: true });
  expect(parseProbeOutput('{}')).toEqual({ video: null, audio: null, isRotated: false });
});

test.each([
  ['show.mp4', 'hls', true],
  ['show.m3u8', 'hls', false],
  ['show.ts', 'concat', true],
  ['shows.txt', 'concat', false],
  ['show.mp4', 'mov,mp4,m4a,3gp,3g2,mj2', false],
])('[M-9] %s in the format %s is a disguised playlist: %p', (file, format, expected) => {
  const info = parseProbeOutput(JSON.stringify({ format: { format_name: format } }));
  expect(isDisguisedPlaylist(file, info)).toBe(expected);
});
