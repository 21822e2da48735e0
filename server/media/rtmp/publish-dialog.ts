import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import {
  COMMAND,
  COMMAND_AMF3,
  controlMessage,
  PEER_BANDWIDTH,
  RtmpError,
  type RtmpMessage,
  SET_CHUNK_SIZE,
  STREAM_BEGIN,
  userControl,
  WINDOW_SIZE,
} from './rtmp-message.ts';

/** Encoders send about six. */
const COMMANDS_MAX = 64;
/** As most servers say it: after how many bytes each side confirms what it has. */
const WINDOW_BYTES = 2_500_000;
const PEER_LIMIT_DYNAMIC = 2;
/** What our own chunks are cut to. */
const REPLY_CHUNK_BYTES = 4096;

/** What comes of a command. */
export type DialogStep =
  | { readonly kind: 'send'; readonly message: RtmpMessage }
  /** Somebody wants to be the source; `publishing` or `refusal` is the answer. */
  | { readonly kind: 'publish'; readonly key: string }
  /** The source says goodbye. */
  | { readonly kind: 'unpublish' }
  /** Nothing here is for it: it is told why and sent away. */
  | { readonly kind: 'refuse'; readonly code: string; readonly reason: string };

/** The commands of one connection (Adobe RTMP 1.0, 7.2), as far as a source needs them. */
export class PublishDialog {
  private commands = 0;
  private app: string | null = null;
  private streams = 0;
  private publishStream: number | null = null;

  /** @throws RtmpError it is no command, or one too many */
  command(message: RtmpMessage): DialogStep[] {
    this.commands++;
    if (this.commands > COMMANDS_MAX) throw new RtmpError('too many commands');
    const [name, transaction, object, ...rest] = readAmf(commandBytes(message));
    if (typeof name !== 'string') throw new RtmpError('a command has no name');
    const call = typeof transaction === 'number' ? transaction : 0;
    if (name === 'connect') return this.connect(call, object);
    if (this.app === null) throw new RtmpError(`${printable(name)} came before connect`);
    switch (name) {
      case 'releaseStream':
      case 'FCPublish':
        return [send(result(call, null, undefined))];
      case 'createStream':
        this.streams++;
        return [send(result(call, null, this.streams))];
      case 'publish':
        return this.publish(message.streamId, rest[0]);
      case 'FCUnpublish':
      case 'deleteStream':
      case 'closeStream':
        return this.publishStream === null ? [] : [{ kind: 'unpublish' }];
      case 'play':
      case 'play2':
        return [
          {
            kind: 'refuse',
            code: 'NetStream.Play.StreamNotFound',
            reason: 'Nothing is played by RTMP here; streams are watched by HLS or DASH.',
          },
        ];
      default:
        // What else encoders send needs no answer.
        return [];
    }
  }

  /** Says that the source is taken. */
  publishing(): RtmpMessage[] {
    const stream = this.publishStream ?? 0;
    const started = this.status('status', 'NetStream.Publish.Start', 'The source is taken.');
    return [userControl(STREAM_BEGIN, stream), started];
  }

  /** Says that the source is not taken, or not any more. @param reason for a person */
  refusal(code: string, reason: string): RtmpMessage {
    return this.status('error', code, reason);
  }

  /** Says that the source has ended, as it asked for. */
  unpublished(): RtmpMessage {
    return this.status('status', 'NetStream.Unpublish.Success', 'The source has ended.');
  }

  private connect(call: number, object: AmfValue): DialogStep[] {
    if (this.app !== null) throw new RtmpError('connect came twice');
    const app = isObject(object) ? object.app : undefined;
    this.app = typeof app === 'string' ? app : '';
    const server = { fmsVer: 'FMS/3,5,7,7009', capabilities: 31, mode: 1 };
    const status = {
      level: 'status',
      code: 'NetConnection.Connect.Success',
      description: 'Connected.',
      objectEncoding: 0,
    };
    return [
      send(controlMessage(WINDOW_SIZE, WINDOW_BYTES)),
      send(peerBandwidth()),
      send(controlMessage(SET_CHUNK_SIZE, REPLY_CHUNK_BYTES)),
      send(result(call, server, status)),
    ];
  }

  private publish(streamId: number, name: AmfValue): DialogStep[] {
    if (this.publishStream !== null) throw new RtmpError('publish came twice');
    this.publishStream = streamId;
    const key = streamKey(this.app ?? '', typeof name === 'string' ? name : '');
    return [{ kind: 'publish', key }];
  }

  private status(level: string, code: string, description: string): RtmpMessage {
    const info = { level, code, description };
    return commandMessage(this.publishStream ?? 0, 'onStatus', 0, null, info);
  }
}

/**
 * The key out of what an encoder was told: the name it publishes; where that is empty, the end of
 * the app's path (`rtmp://host/live/KEY` as the server, no key). A query after it is left out.
 */
export function streamKey(app: string, name: string): string {
  const [last = ''] = parts(name).slice(-1);
  if (last !== '') return last;
  const [, ...path] = parts(app);
  return path.at(-1) ?? '';
}

function parts(path: string): string[] {
  return path
    .replace(/[?#].*$/s, '')
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A command message, as either side sends it. */
export function commandMessage(streamId: number, ...values: AmfValue[]): RtmpMessage {
  return { type: COMMAND, streamId, timestampMs: 0, payload: writeAmf(values) };
}

function send(message: RtmpMessage): DialogStep {
  return { kind: 'send', message };
}

function result(call: number, object: AmfValue, value: AmfValue): RtmpMessage {
  return commandMessage(0, '_result', call, object, value);
}

function peerBandwidth(): RtmpMessage {
  const message = controlMessage(PEER_BANDWIDTH, WINDOW_BYTES);
  const payload = Buffer.concat([message.payload, Uint8Array.of(PEER_LIMIT_DYNAMIC)]);
  return { ...message, payload };
}

/** AMF 3 commands are AMF 0 after a byte that says so. */
function commandBytes({ type, payload }: RtmpMessage): Uint8Array {
  return type === COMMAND_AMF3 && payload[0] === 0 ? payload.subarray(1) : payload;
}

function isObject(value: AmfValue): value is { readonly [name: string]: AmfValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name that a peer made up, for the log. */
function printable(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
