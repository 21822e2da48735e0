import { type AmfBudget, type AmfValue, MAX_VALUES, readAmf, writeAmf } from './amf0.ts';
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
const MAX_COMMANDS = 64;
/** Length of an app, or of the name of a published stream. A stream key is shorter. */
const MAX_NAME_LENGTH = 1_024;
/** Acknowledgement window, as most servers set it. */
const WINDOW_BYTES = 2_500_000;
const PEER_LIMIT_DYNAMIC = 2;
/** Chunk size of the server's messages. */
const REPLY_CHUNK_BYTES = 4096;

/** What the connection has to do after a command. */
export type PublishStep =
  | { readonly kind: 'send'; readonly message: RtmpMessage }
  /** The peer wants to publish; respond with `publishing` or `refusal`. */
  | { readonly kind: 'publish'; readonly key: string }
  /** The source ends its publishing. */
  | { readonly kind: 'unpublish' }
  /** The command is not supported; send the reason and close. */
  | { readonly kind: 'refuse'; readonly code: string; readonly reason: string };

/** The NetConnection and NetStream commands of a publishing client (Adobe RTMP 1.0, 7.2). */
export class PublishSession {
  private commandCount = 0;
  /** Of all commands: 60 commands of 1,000 values each took 30 ms before a key was checked. */
  private readonly values: AmfBudget = { left: MAX_VALUES };
  private app: string | null = null;
  private streamCount = 0;
  private publishStream: number | null = null;

  /** @throws RtmpError for a malformed or unexpected command, or too many commands */
  command(message: RtmpMessage): PublishStep[] {
    this.commandCount++;
    if (this.commandCount > MAX_COMMANDS) throw new RtmpError('too many commands');
    const [name, transaction, object, ...parameters] = readAmf(commandBytes(message), this.values);
    if (typeof name !== 'string') throw new RtmpError('a command has no name');
    const transactionId = typeof transaction === 'number' ? transaction : 0;
    if (name === 'connect') return this.connect(transactionId, object);
    if (this.app === null) throw new RtmpError(`${printable(name)} was sent before connect`);
    switch (name) {
      case 'releaseStream':
      case 'FCPublish':
        return [send(result(transactionId, null, undefined))];
      case 'createStream':
        this.streamCount++;
        return [send(result(transactionId, null, this.streamCount))];
      case 'publish':
        return this.publish(message.streamId, parameters[0]);
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
            reason: 'Playback over RTMP is not supported; watch streams by HLS or DASH.',
          },
        ];
      default:
        // Other commands of encoders need no response.
        return [];
    }
  }

  /** Messages that accept the source. */
  acceptanceMessages(): RtmpMessage[] {
    const stream = this.publishStream ?? 0;
    const started = this.status('status', 'NetStream.Publish.Start', 'The source was accepted.');
    return [userControl(STREAM_BEGIN, stream), started];
  }

  /** Message that rejects or ends the source. @param reason shown to the user */
  refusal(code: string, reason: string): RtmpMessage {
    return this.status('error', code, reason);
  }

  /** Message that confirms the end of publishing. */
  unpublished(): RtmpMessage {
    return this.status('status', 'NetStream.Unpublish.Success', 'The source has ended.');
  }

  private connect(transactionId: number, object: AmfValue): PublishStep[] {
    if (this.app !== null) throw new RtmpError('connect was sent twice');
    const app = isObject(object) ? object.app : undefined;
    this.app = nameOf(app);
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
      send(result(transactionId, server, status)),
    ];
  }

  private publish(streamId: number, name: AmfValue): PublishStep[] {
    if (this.publishStream !== null) throw new RtmpError('publish was sent twice');
    this.publishStream = streamId;
    const key = streamKey(this.app ?? '', nameOf(name));
    return [{ kind: 'publish', key }];
  }

  private status(level: string, code: string, description: string): RtmpMessage {
    const info = { level, code, description };
    return commandMessage(this.publishStream ?? 0, 'onStatus', 0, null, info);
  }
}

/**
 * Extracts the stream key: the published stream name or, when that is empty, the last segment of the
 * app path (`rtmp://host/live/KEY` as server without key). Ignores a query.
 */
export function streamKey(app: string, name: string): string {
  const [last = ''] = pathSegments(name).slice(-1);
  if (last !== '') return last;
  const [, ...path] = pathSegments(app);
  return path.at(-1) ?? '';
}

function pathSegments(path: string): string[] {
  return path
    .replace(/[?#].*$/s, '')
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function commandMessage(streamId: number, ...values: AmfValue[]): RtmpMessage {
  return { type: COMMAND, streamId, timestampMs: 0, payload: writeAmf(values) };
}

function send(message: RtmpMessage): PublishStep {
  return { kind: 'send', message };
}

function result(transactionId: number, object: AmfValue, value: AmfValue): RtmpMessage {
  return commandMessage(0, '_result', transactionId, object, value);
}

function peerBandwidth(): RtmpMessage {
  const message = controlMessage(PEER_BANDWIDTH, WINDOW_BYTES);
  const payload = Buffer.concat([message.payload, Uint8Array.of(PEER_LIMIT_DYNAMIC)]);
  return { ...message, payload };
}

function nameOf(value: AmfValue): string {
  if (typeof value !== 'string') return '';
  if (value.length > MAX_NAME_LENGTH)
    throw new RtmpError('the app or stream key is longer than 1,024 characters');
  return value;
}

/** AMF 3 commands are AMF 0 with a leading marker byte. */
function commandBytes({ type, payload }: RtmpMessage): Uint8Array {
  return type === COMMAND_AMF3 && payload[0] === 0 ? payload.subarray(1) : payload;
}

function isObject(value: AmfValue): value is { readonly [name: string]: AmfValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name from the peer, shortened and escaped for the log. */
function printable(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
