/** Sample rate of the test picture's audio: mono, 16 bits, little-endian. */
export const SAMPLE_RATE = 48_000;

const SAMPLES_PER_MS = SAMPLE_RATE / 1_000;
const SECOND_MS = 1_000;
const BEEP_MS = 90;
// Avoids clicks at the start and end of a tone.
const FADE_MS = 8;
const TONE_HZ = 880;
/** The beep of a full minute is an octave higher. */
const MINUTE_TONE_HZ = 1_760;
const MINUTE_MS = 60 * SECOND_MS;
// 8% of full scale: quiet, since it repeats for hours.
const AMPLITUDE = 0.08 * 32_767;

/**
 * Audio of the test picture (SPEC M-45): a quiet beep at each full second of service time, to check
 * that audio and video are in sync.
 * @param fromMs time of the first sample, whole Unix ms
 * @param untilMs end of the last sample, exclusive, whole Unix ms
 */
export function beepSamples(fromMs: number, untilMs: number): Uint8Array {
  const samples = new Int16Array(Math.max(0, untilMs - fromMs) * SAMPLES_PER_MS);
  for (let ms = fromMs; ms < untilMs; ms++) {
    const secondOffsetMs = ms % SECOND_MS;
    if (secondOffsetMs >= BEEP_MS) continue;
    const tone = ms % MINUTE_MS < SECOND_MS ? MINUTE_TONE_HZ : TONE_HZ;
    for (let sample = 0; sample < SAMPLES_PER_MS; sample++) {
      const beepOffsetMs = secondOffsetMs + sample / SAMPLES_PER_MS;
      const amplitude =
        AMPLITUDE * Math.min(1, beepOffsetMs / FADE_MS, (BEEP_MS - beepOffsetMs) / FADE_MS);
      const wave = Math.sin((2 * Math.PI * tone * beepOffsetMs) / SECOND_MS);
      samples[(ms - fromMs) * SAMPLES_PER_MS + sample] = Math.round(amplitude * wave);
    }
  }
  // All platforms of Bun are little-endian.
  return new Uint8Array(samples.buffer);
}
