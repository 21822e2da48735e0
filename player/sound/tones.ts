import type { Cue } from './cues.ts';

interface Tone {
  readonly atMs: number;
  readonly durationMs: number;
  readonly frequencyHz: number;
}

/** Notes of a C major chord, Hz. */
const [C5, E5, G5, C6] = [523.25, 659.25, 783.99, 1_046.5];

const TONES: Readonly<Record<Cue, readonly Tone[]>> = {
  opened: [
    { atMs: 0, durationMs: 120, frequencyHz: G5 },
    { atMs: 120, durationMs: 240, frequencyHz: C6 },
  ],
  second: [{ atMs: 0, durationMs: 90, frequencyHz: G5 }],
  closed: [{ atMs: 0, durationMs: 450, frequencyHz: C5 }],
  winners: [C5, E5, G5, C6].map((frequencyHz, index) => ({
    atMs: index * 130,
    durationMs: index === 3 ? 700 : 160,
    frequencyHz,
  })),
};

/** Below the level of speech, since a show has sound of its own. */
const GAIN = 0.12;
/** Without a ramp, a tone begins and ends with a click. */
const RAMP_S = 0.015;

/** Plays the tones of a cue. */
export function playCue(context: AudioContext, cue: Cue): void {
  for (const { atMs, durationMs, frequencyHz } of TONES[cue]) {
    const startS = context.currentTime + atMs / 1_000;
    const endS = startS + durationMs / 1_000;
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setValueAtTime(0, startS);
    gain.gain.linearRampToValueAtTime(GAIN, startS + RAMP_S);
    gain.gain.exponentialRampToValueAtTime(GAIN / 100, endS);
    const oscillator = new OscillatorNode(context, { type: 'triangle', frequency: frequencyHz });
    oscillator.connect(gain).connect(context.destination);
    oscillator.start(startS);
    oscillator.stop(endS);
  }
}
