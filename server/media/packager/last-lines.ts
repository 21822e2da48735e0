const LINES_MAX = 20;
const LINE_CHARACTERS_MAX = 300;

// A source can make ffmpeg say what is in it: nothing of that may move a terminal's cursor.
const CONTROL_CHARACTERS = /\p{Cc}+/gu;

/** Keeps the last lines that a program said, for the log when it ends. */
export class LastLines {
  private readonly decoder = new TextDecoder();
  private readonly lines: string[] = [];
  private partialLine = '';

  push(bytes: Uint8Array): void {
    // ffmpeg ends lines that it means to write over with a carriage return.
    const parts = (this.partialLine + this.decoder.decode(bytes, { stream: true })).split(
      /[\r\n]+/,
    );
    this.partialLine = (parts.pop() ?? '').slice(0, LINE_CHARACTERS_MAX);
    for (const part of parts) this.add(part);
  }

  /** The newest last. */
  list(): string[] {
    const last = cleaned(this.partialLine);
    return last === '' ? [...this.lines] : [...this.lines, last].slice(-LINES_MAX);
  }

  private add(part: string): void {
    const line = cleaned(part);
    if (line === '') return;
    this.lines.push(line);
    if (this.lines.length > LINES_MAX) this.lines.shift();
  }
}

function cleaned(line: string): string {
  return line.slice(0, LINE_CHARACTERS_MAX).replace(CONTROL_CHARACTERS, ' ').trim();
}
