/** One message of an event stream. */
export interface Message {
  /** Fields in the order received, without comments. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly id: string;
  readonly data: string;
}

/** Whether a message of a live or presenter stream is a state. */
export const isStateMessage = ({ fields }: Message) =>
  fields.some(([name, value]) => name === 'event' && value === 'state');

type Chunk = { done: boolean; value?: Uint8Array | undefined };

/** A minimal client for server-sent events (HTML, "Server-sent events"). */
export class EventReader {
  private readonly read: () => Promise<Chunk>;
  private readonly cancel: () => Promise<void>;
  private pendingRead: Promise<Chunk> | null = null;
  private readonly decoder = new TextDecoder();
  private text = '';
  private isEnded = false;

  constructor(response: Response) {
    if (!response.body) throw new Error('the response has no body');
    const reader = response.body.getReader();
    this.read = () => reader.read();
    this.cancel = () => reader.cancel();
  }

  /** The next message; null when the stream has ended or nothing arrived for `waitMs`. */
  async next(waitMs = 1_000): Promise<Message | null> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end >= 0) {
        const message = parseMessage(this.text.slice(0, end));
        this.text = this.text.slice(end + 2);
        if (message) return message;
        continue;
      }
      if (this.isEnded || !(await this.readMore(waitMs))) return null;
    }
  }

  /** The next `count` messages, or fewer when no more arrive. */
  async take(count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) {
      const message = await this.next();
      if (!message) break;
      messages.push(message);
    }
    return messages;
  }

  /** The next state of the stream that meets a condition. @throws Error after 8 other states */
  async nextState<State>(meets: (state: State) => boolean): Promise<State> {
    for (let tries = 0; tries < 8; ) {
      const message = await this.next(3_000);
      if (!message) throw new Error('no state arrived within 3 s');
      if (!isStateMessage(message)) continue;
      const state: State = JSON.parse(message.data);
      if (meets(state)) return state;
      tries++;
    }
    throw new Error('none of 8 states met the condition');
  }

  /** Reads on. @returns whether the server ended the stream before a silence of `waitMs` */
  async ended(waitMs = 1_000): Promise<boolean> {
    while (!this.isEnded) if ((await this.next(waitMs)) === null) break;
    return this.isEnded;
  }

  close(): Promise<void> {
    return this.cancel().catch(() => {});
  }

  private async readMore(waitMs: number): Promise<boolean> {
    const timeout = Bun.sleep(waitMs).then(() => null);
    this.pendingRead ??= this.read();
    const chunk = await Promise.race([this.pendingRead, timeout]);
    if (!chunk) return false;
    this.pendingRead = null;
    if (chunk.done) this.isEnded = true;
    else this.text += this.decoder.decode(chunk.value, { stream: true });
    return true;
  }
}

function parseMessage(block: string): Message | null {
  const fields = block
    .split('\n')
    .filter((line) => !line.startsWith(':'))
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    });
  if (fields.length === 0) return null;
  const valuesOf = (name: string) =>
    fields.filter(([field]) => field === name).map(([, value]) => value);
  return { fields, id: valuesOf('id').join(), data: valuesOf('data').join('\n') };
}
