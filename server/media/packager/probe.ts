import { spawn } from 'node:child_process';
import type { Container } from '../source.ts';
import { ChildInput } from './child-input.ts';
import type { Probe, SourceInfo, StartProbe } from './encoder.ts';
import { inputArguments } from './ffmpeg-arguments.ts';
import { PROBE_ENTRIES, sourceInfoFrom } from './source-info.ts';

/** After this time ffprobe must do with what it has, and soon after that it must be done. */
const ENOUGH_MS = 8_000;
const LATEST_MS = 10_000;
/** It reads 2 MB at most; more than this is not kept for it. */
const BYTES_MAX = 8 << 20;
/** Of what it says. A source may have some thousand streams that are nothing. */
const OUTPUT_CHARACTERS_MAX = 1 << 20;

/** Looks at sources with ffprobe. @param ffprobe the program */
export function startProbe(ffprobe: string): StartProbe {
  return (container) => new FfprobeProbe(ffprobe, container);
}

class FfprobeProbe implements Probe {
  readonly result: Promise<SourceInfo>;
  private readonly child;
  private readonly input: ChildInput;
  private readonly timers: readonly Timer[];
  private readonly settle: PromiseWithResolvers<SourceInfo> = Promise.withResolvers();
  private output = '';
  private bytes = 0;

  constructor(ffprobe: string, container: Container) {
    this.result = this.settle.promise;
    // Who kills a probe no longer asks for its result.
    this.result.catch(() => {});
    this.child = spawn(ffprobe, probeArguments(container), {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.input = new ChildInput(this.child.stdin);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.output = (this.output + text).slice(0, OUTPUT_CHARACTERS_MAX);
    });
    this.child.on('error', (error) => this.fail(`ffprobe cannot be run: ${error.message}`));
    this.child.on('close', () => this.ended());
    this.timers = [
      setTimeout(() => this.input.end(), ENOUGH_MS),
      setTimeout(() => this.giveUp(), LATEST_MS),
    ];
  }

  write(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (this.bytes > BYTES_MAX) this.input.end();
    else this.input.write(bytes);
  }

  kill(): void {
    this.fail('it ended before it was understood');
    this.child.kill('SIGKILL');
  }

  private giveUp(): void {
    this.fail('what was sent is not understood, or too little to tell');
    this.child.kill('SIGKILL');
  }

  private ended(): void {
    this.over();
    try {
      this.settle.resolve(sourceInfoFrom(this.output));
    } catch (error) {
      this.settle.reject(error);
    }
  }

  private fail(reason: string): void {
    this.over();
    this.settle.reject(new Error(reason));
  }

  private over(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.input.gone();
  }
}

function probeArguments(container: Container): string[] {
  return [
    ...['-hide_banner', '-loglevel', 'quiet'],
    ...inputArguments(container),
    ...['-show_entries', PROBE_ENTRIES],
    ...['-of', 'json'],
    ...['-i', 'pipe:0'],
  ];
}
