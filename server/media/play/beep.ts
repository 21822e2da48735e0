/** Samples a second of the sound of the test picture, one channel, 16 bits, little-endian. */
export const SAMPLE_RATE = 48_000;

const SAMPLES_PER_MS = SAMPLE_RATE / 1_000;
const SECOND_MS = 1_000;
const BEEP_MS = 90;
// Without it, the beginning and the end of a tone are clicks.
const FADE_MS = 8;
const TONE_HZ = 880;
/** A whole minute is an octave higher. */
const MINUTE_TONE_HZ = 1_760;
const MINUTE_MS = 60 * SECOND_MS;
// A twelfth of what is possible: it repeats for hours.
const LOUDNESS = 0.08 * 32_767;

/**
 * The sound of the test picture (SPEC M-45): a quiet beep that begins with each full second of
 * service time, so that sound and picture can be compared.
 * @param fromMs of the first sample, whole Unix ms
 * @param untilMs the first moment after the last sample, whole Unix ms
 */
export function beeps(fromMs: number, untilMs: number): Uint8Array {
  const samples = new Int16Array(Math.max(0, untilMs - fromMs) * SAMPLES_PER_MS);
  for (let ms = fromMs; ms < untilMs; ms++) {
    const sinceMs = ms % SECOND_MS;
    if (sinceMs >= BEEP_MS) continue;
    const tone = ms % MINUTE_MS < SECOND_MS ? MINUTE_TONE_HZ : TONE_HZ;
    for (let sample = 0; sample < SAMPLES_PER_MS; sample++) {
      const atMs = sinceMs + sample / SAMPLES_PER_MS;
      const loudness = LOUDNESS * Math.min(1, atMs / FADE_MS, (BEEP_MS - atMs) / FADE_MS);
      const wave = Math.sin((2 * Math.PI * tone * atMs) / SECOND_MS);
      samples[(ms - fromMs) * SAMPLES_PER_MS + sample] = Math.round(loudness * wave);
    }
  }
  // Every machine that Bun runs on is little-endian.
  return new Uint8Array(samples.buffer);
}
