/** One message of an event stream, as it was sent. */
export interface Message {
  /** Fields in the order they came, without comments. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly id: string;
  readonly data: string;
}

type Part = { done: boolean; value?: Uint8Array | undefined };

/** Reads server-sent events (HTML, "Server-sent events") as a plain client would. */
export class EventReader {
  private readonly read: () => Promise<Part>;
  private readonly cancel: () => Promise<void>;
  private reading: Promise<Part> | null = null;
  private readonly decoder = new TextDecoder();
  private text = '';
  private over = false;

  constructor(response: Response) {
    if (!response.body) throw new Error('there is no body');
    const reader = response.body.getReader();
    this.read = () => reader.read();
    this.cancel = () => reader.cancel();
  }

  /** The next message; null when the stream has ended, or nothing came for `waitMs`. */
  async next(waitMs = 1_000): Promise<Message | null> {
    for (;;) {
      const end = this.text.indexOf('\n\n');
      if (end >= 0) {
        const message = messageOf(this.text.slice(0, end));
        this.text = this.text.slice(end + 2);
        if (message) return message;
        continue;
      }
      if (this.over || !(await this.readMore(waitMs))) return null;
    }
  }

  /** The next so many messages; fewer when no more come. */
  async take(count: number): Promise<Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) {
      const message = await this.next();
      if (!message) break;
      messages.push(message);
    }
    return messages;
  }

  /** Whether the server ended the stream, within `waitMs`. */
  async ended(waitMs = 1_000): Promise<boolean> {
    while (!this.over) if ((await this.next(waitMs)) === null) break;
    return this.over;
  }

  close(): Promise<void> {
    return this.cancel().catch(() => {});
  }

  private async readMore(waitMs: number): Promise<boolean> {
    const late = Bun.sleep(waitMs).then(() => null);
    this.reading ??= this.read();
    const part = await Promise.race([this.reading, late]);
    if (!part) return false;
    this.reading = null;
    if (part.done) this.over = true;
    else this.text += this.decoder.decode(part.value, { stream: true });
    return true;
  }
}

function messageOf(block: string): Message | null {
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
