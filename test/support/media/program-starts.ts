import { startEncoder } from '../../../server/media/packager/encoder-ffmpeg.ts';
import { checkFfmpeg } from '../../../server/media/packager/find-ffmpeg.ts';
import { startProbe } from '../../../server/media/packager/probe.ts';
import { runForOutput, startProcess } from '../../../server/media/play/media-process.ts';
import type { Ingest } from '../../../server/media/source.ts';
import { Receiver } from '../../../server/media/srt/receiver.ts';
import { listenSrt } from '../../../server/media/srt/srt-listener.ts';
import { ENCODER_SETTINGS } from './encoder-fixture.ts';
import { recordingLogger } from './segment-store-fixture.ts';

const SOURCE = { width: 96, height: 54, frameRate: [15, 1], hasAudio: false } as const;
const NO_EVENTS = {
  onInits: () => {},
  onFragment: () => {},
  onProgress: () => {},
  onAudioMissing: () => {},
};

function encode(ffmpeg: string): Promise<unknown> {
  const settings = { ...ENCODER_SETTINGS, ffmpeg };
  return startEncoder({ container: 'flv', source: SOURCE, settings, startMs: 0 }, NO_EVENTS).exited;
}

function receive(ffmpeg: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  new Receiver(ffmpeg, 1, { onBytes: () => undefined, onEnd: () => resolve() });
  return promise;
}

// The check fails before a source comes.
const ingest: Ingest = { open: () => Promise.reject(new Error('unused')) };
const { logger } = recordingLogger('error');

/** Everything that starts ffmpeg or ffprobe. Each starts the given program and waits for its end. */
export const PROGRAM_STARTS: Readonly<Record<string, (program: string) => Promise<unknown>>> = {
  probe: (program) => startProbe(program)('flv').result,
  encoder: encode,
  'check of ffmpeg': (ffmpeg) => checkFfmpeg({ ffmpeg, encoder: 'libx264', preset: 'fast' }),
  sender: (program) => startProcess(program, []).exited,
  'analysis of a file': (program) => runForOutput(program, []),
  'SRT receiver': receive,
  'check of SRT': (ffmpeg) => listenSrt({ host: '127.0.0.1', port: 0, ffmpeg, ingest, logger }),
};
