const LINES_MAX = 20;
const LINE_CHARACTERS_MAX = 300;

// ffmpeg logs text of the source, which must not control a terminal.
const CONTROL_CHARACTERS = /\p{Cc}+/gu;

/** Keeps the last lines of a program's output, to log them when it exits. */
export class LastLines {
  private readonly decoder = new TextDecoder();
  private readonly lines: string[] = [];
  private partialLine = '';

  push(bytes: Uint8Array): void {
    // ffmpeg ends lines that it overwrites with a carriage return.
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
