/** Greetings of viewers who join. */
export const GREETINGS: readonly string[] = [
  'Hello everyone!',
  'Good evening from Porto',
  'Hi, first time here',
  'Back again',
  'Hello from the night train',
];

export const MESSAGES: readonly string[] = [
  'I knew that one',
  'No idea, I guessed',
  'My grandmother would know',
  'That was close',
  'More history please',
  'Three in a row!',
  'Who looks these up?',
  'I was too slow',
  'Easy',
  'The count never jumps, nice',
  'Wait, what?',
  'Next one is mine',
];

export const CHEERS: readonly string[] = ['Bravo!', 'Go!', 'Wooo', 'Yes!', 'Encore'];

/** Goods of the host's shop, for purchases. */
export const GOODS: readonly string[] = ['Enamel mug', 'Poster', 'Quiz box', 'Woolen hat'];
