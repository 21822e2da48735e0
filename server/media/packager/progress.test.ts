import { expect, test } from 'bun:test';
import { ProgressReader } from './progress.ts';

const FIRST = `frame=28
fps=27.50
stream_0_0_q=19.0
bitrate=N/A
total_size=N/A
out_time_us=933333
out_time=00:00:00.933333
dup_frames=1
drop_frames=2
speed=0.92x
progress=continue
`;
const SECOND = FIRST.replace('frame=28', 'frame=58').replace('933333', '1933333');

const bytes = (text: string) => new TextEncoder().encode(text);

test('[M-43] a report has encoded, dropped and duplicated frames', () => {
  expect(new ProgressReader().push(bytes(FIRST), 0)).toEqual([
    { frames: 28, dropped: 2, duplicated: 1, fps: 27.5, speed: 0.92 },
  ]);
});

test('[M-43] speed and frame rate are those since the previous report', () => {
  const reader = new ProgressReader();
  reader.push(bytes(FIRST), 5_000);
  expect(reader.push(bytes(SECOND), 7_000)).toEqual([
    { frames: 58, dropped: 2, duplicated: 1, fps: 15, speed: 0.5 },
  ]);
});

test('[M-43] reports are parsed from chunks of any size', () => {
  const reader = new ProgressReader();
  const reports = [...bytes(FIRST + SECOND)].flatMap((byte) =>
    reader.push(Uint8Array.of(byte), 100),
  );
  expect(reports.map(({ frames }) => frames)).toEqual([28, 58]);
});

test('[M-43] unknown values are 0 and unfinished lines are limited', () => {
  const reader = new ProgressReader();
  const unknown = 'frame=0\nfps=0.00\nout_time_us=N/A\nspeed=N/A\nprogress=continue\n';
  expect(reader.push(bytes(unknown), 0)).toEqual([
    { frames: 0, dropped: 0, duplicated: 0, fps: 0, speed: 0 },
  ]);
  for (let i = 0; i < 100; i++) reader.push(bytes('x'.repeat(10_000)), 1);
  expect(reader.push(bytes(`\n${FIRST}`), 1_000)).toMatchObject([{ frames: 28, fps: 28 }]);
});
