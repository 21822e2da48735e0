/** A script that counts the tones that a page plays, in the global variable `tones`. */
export const COUNT_TONES = `
  globalThis.tones = 0;
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...times) {
    globalThis.tones += 1;
    return start.apply(this, times);
  };`;
