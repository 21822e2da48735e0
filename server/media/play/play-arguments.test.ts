import { expect, test } from 'bun:test';
import { factsOf, fileArguments, pictureArguments } from './play-arguments.ts';

const line = (args: readonly string[]) => args.join(' ');

test('[M-9] the test picture is encoded at once, with a key frame each second', () => {
  expect(line(pictureArguments({ frameRate: 25 }))).toBe(
    '-hide_banner -nostdin -nostats -loglevel error -fflags nobuffer -analyzeduration 0 ' +
      '-probesize 32 -f matroska -i pipe:0 -map 0:v -map 0:a -c:v libx264 -preset ultrafast ' +
      '-tune zerolatency -pix_fmt yuv420p -g 25 -crf 22 -c:a aac -b:a 96k -f flv ' +
      '-flvflags no_duration_filesize -flush_packets 1 pipe:1',
  );
});

test('[M-9] a file whose codecs Matroska holds is copied, in real time', () => {
  const facts = { video: 'h264', audio: 'aac', isTurned: false };
  expect(line(fileArguments('show.mp4', false, facts))).toBe(
    '-hide_banner -nostdin -nostats -loglevel error -fflags +genpts -re -i file:show.mp4 ' +
      '-map 0:V:0 -map 0:a:0 -map_metadata -1 -c:v copy -c:a copy -f matroska ' +
      '-cluster_time_limit 0 -flush_packets 1 pipe:1',
  );
});

test.each([
  [
    'a codec that not every player of Matroska knows',
    { video: 'wmv3', audio: 'wmav2', isTurned: false },
  ],
  ['a picture that is turned', { video: 'h264', audio: 'pcm_u8', isTurned: true }],
])('[M-9] %s is encoded anew', (_, facts) => {
  const args = line(fileArguments('a', false, facts));
  expect(args).toContain(' -c:v libx264 ');
  expect(args).toContain(' -c:a aac ');
  expect(args).not.toContain('copy');
});

test('[M-9] over and over, without sound, and with a name that is like an option', () => {
  const args = line(fileArguments('-y', true, { video: 'vp9', audio: null, isTurned: false }));
  expect(args).toContain(' -stream_loop -1 -i file:-y ');
  expect(args).not.toContain('a:0');
  expect(args).not.toContain('-c:a');
});

test('what ffprobe says is understood: covers are no video, and a turn is a turn', () => {
  const cover = { codec_type: 'video', codec_name: 'mjpeg', disposition: { attached_pic: 1 } };
  const sound = { codec_type: 'audio', codec_name: 'mp3', disposition: { attached_pic: 0 } };
  const video = { codec_type: 'video', codec_name: 'hevc', disposition: { attached_pic: 0 } };
  const turned = { ...video, side_data_list: [{}, { rotation: -90 }] };
  const facts = (...streams: object[]) => factsOf(JSON.stringify({ streams }));
  expect(facts(cover, sound)).toEqual({ video: null, audio: 'mp3', isTurned: false });
  expect(facts(cover, video)).toEqual({ video: 'hevc', audio: null, isTurned: false });
  expect(facts(turned, sound)).toEqual({ video: 'hevc', audio: 'mp3', isTurned: true });
  expect(factsOf('{}')).toEqual({ video: null, audio: null, isTurned: false });
});
