import type { Ingest } from '../../protocol/ingest.ts';

/** How a source is connected. */
const kinds: Readonly<Record<NonNullable<Ingest['source']>['kind'], string>> = {
  rtmp: 'via RTMP',
  srt: 'via SRT',
  // Apps may use it as well as browsers.
  websocket: 'via WebSocket',
  'media-play': 'via fourbeat media play',
};

/** The texts of the video source on the set-up page. */
export const texts = {
  title: 'Video source',
  loading: 'Loading video source',
  hasEnded: 'The show has ended.',
  startsAutomatically: 'The show starts automatically when a source connects.',
  connectForPreview: 'Connect a source to see a preview. Viewers see nothing until you go live.',
  preview: {
    label: 'Preview of the video',
    caption: 'Preview, a few seconds behind the camera. Viewers do not see it.',
    sound: 'Sound',
    soundLevel: 'Sound level',
    silent: 'Silent',
    decibels: (level: number) => `${level} dB`,
  },
  sourceLost: {
    explanation: (endTime: string) =>
      `The video source is disconnected. Unless it reconnects, the show ends automatically at ${endTime}.`,
    endsAt: (endTime: string) => `No video. Ends at ${endTime}`,
    keepOpen: 'Keep the show open',
    keptOpen: 'The show stays open until you end it.',
  },
  goLive: {
    action: 'Go live',
    countDown: (seconds: number) => `Count down from ${seconds}`,
    remaining: (seconds: number) => `Live in ${seconds}…`,
    cancel: 'Cancel',
    done: 'You are live.',
  },
  facts: {
    none: 'No video',
    waiting: 'Waiting for a source.',
    receiving: 'Receiving video',
    tooSlow: 'Too slow',
    kinds,
    warnings: 'Warnings',
    unknown: '–',
    resolution: 'Resolution',
    size: (width: number, height: number) => `${width} × ${height}`,
    bitrate: 'Bitrate',
    megabits: (bitsPerSecond: number) => `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s`,
    framesPerSecond: 'Frames per second',
    encoder: 'Encoder',
    encoderSpeed: (speed: number) => `${speed.toFixed(2)}×`,
    droppedFrames: 'Dropped frames',
  },
  warnings: {
    tooSlow: 'The encoder is too slow. Use a lower resolution or a faster machine.',
    noSound: 'No sound. Check the microphone of the source.',
    fewKeyFrames: (seconds: number) =>
      `No key frame for ${seconds} s. Set the keyframe interval to 2 s.`,
    upright: 'The video is upright. Viewers with wide screens see black bars.',
    aspectRatio: (width: number, height: number) =>
      `The video is ${width} × ${height}, not 16:9. Viewers see black bars.`,
  },
  camera: {
    title: 'This browser’s camera',
    preview: 'Camera preview',
    liveElsewhere: 'This browser’s camera is live in another show. Stop it there.',
    start: 'Start camera',
    stop: 'Stop camera',
    states: {
      connecting: 'Connecting…',
      live: 'Live',
      preview: 'Preview',
      slow: 'Live, but the service cannot keep up',
      reconnecting: 'Connection lost. Reconnecting…',
    },
    chooseDevices: 'Choose camera and microphone',
    camera: 'Camera',
    microphone: 'Microphone',
    defaultDevice: 'Default',
    errors: {
      insecure:
        'The camera needs a secure connection. Open the studio over https:// or on localhost.',
      notAllowed: 'Camera access is blocked. Allow it for this page in your browser.',
      notFound: 'No camera or microphone found. Connect one and try again.',
      overconstrained: 'The chosen camera or microphone is not connected. Choose another one.',
      notReadable: 'Another program uses the camera. Close it first.',
    },
    stopped: 'Stopped.',
    unsupported: 'This browser cannot send video. Use another browser, or an encoder such as OBS.',
    disconnected:
      'The camera or microphone was disconnected. Connect it and start the camera again.',
    failed: (error: string) => `Recording failed: ${error}`,
  },
  encoder: {
    title: 'OBS or another encoder',
    server: 'Server (RTMP)',
    copyServer: 'Copy the server',
    key: 'Stream key',
    copyKey: 'Copy the stream key',
    showKey: 'Show the stream key',
    hideKey: 'Hide the stream key',
    srt: 'SRT (includes the key)',
    copySrt: 'Copy the SRT address',
    showSrt: 'Show the SRT address',
    hideSrt: 'Hide the SRT address',
    show: 'Show',
    hide: 'Hide',
    disabled: 'RTMP and SRT are disabled on this service.',
  },
  replaceKey: {
    button: 'Replace stream key',
    title: 'Replace the stream key?',
    help: 'The old key stops working. A source that is live with it continues until it disconnects.',
    action: 'Replace',
    done: 'Stream key replaced. The old key no longer works.',
  },
};
