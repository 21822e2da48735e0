/** A quiz question. `difficulty` is from 0 (easy) to 1 (hard). */
export interface Trivia {
  readonly question: string;
  readonly choices: readonly string[];
  readonly answer: string;
  readonly difficulty: number;
}

const ask = (difficulty: number, question: string, answer: string, choices: string): Trivia => ({
  question,
  choices: choices.split('|'),
  answer,
  difficulty,
});

/**
 * The questions of the demo's host. Simulated viewers look up the correct answers here, with a
 * probability that depends on their skill: the service sends no answer before the results.
 */
export const TRIVIA: readonly Trivia[] = [
  ask(0.2, 'Which planet is the largest?', 'Jupiter', 'Mars|Jupiter|Venus|Saturn'),
  ask(0.5, 'In which year did people first walk on the Moon?', '1969', '1969|1961|1972|1984'),
  ask(0.3, 'How many hearts does an octopus have?', '3', '1|2|3|8'),
  ask(0.6, 'Which of these is closest to the equator?', 'Nairobi', 'Cairo|Nairobi|Lisbon|Perth'),
  ask(0.4, 'What do bees collect to make honey?', 'Nectar', 'Pollen|Nectar|Resin|Dew'),
  ask(0.7, 'Which metal melts in a warm hand?', 'Gallium', 'Tin|Gallium|Zinc|Lead'),
  ask(0.3, 'How many strings does a violin have?', '4', '4|5|6'),
  ask(0.5, 'Which ocean is the deepest?', 'Pacific', 'Atlantic|Indian|Pacific|Arctic'),
  ask(
    0.6,
    'Which word means the fear of heights?',
    'Acrophobia',
    'Agoraphobia|Acrophobia|Aerophobia',
  ),
  ask(0.2, 'Which animal is the tallest?', 'Giraffe', 'Elephant|Giraffe|Ostrich|Camel'),
  ask(0.8, 'How many moons does Mars have?', '2', '0|1|2|4'),
  ask(0.5, 'What is the main ingredient of hummus?', 'Chickpeas', 'Lentils|Chickpeas|Broad beans'),
  ask(0.6, 'Which instrument has 88 keys?', 'Piano', 'Accordion|Piano|Celesta|Harpsichord'),
  ask(
    0.4,
    'Which gas do plants take from the air?',
    'Carbon dioxide',
    'Oxygen|Nitrogen|Carbon dioxide',
  ),
  ask(0.7, 'Which city was once called Byzantium?', 'Istanbul', 'Athens|Istanbul|Alexandria|Rome'),
  ask(0.3, 'How many minutes are there in a day?', '1440', '1200|1440|1560|2400'),
  ask(0.2, 'Which tree do acorns grow on?', 'Oak', 'Beech|Oak|Chestnut|Hazel'),
  ask(0.5, 'Which desert is the largest hot one?', 'Sahara', 'Gobi|Sahara|Kalahari|Mojave'),
  ask(0.6, 'What is a group of crows called?', 'A murder', 'A pride|A murder|A parliament'),
  ask(0.4, 'Which color comes last in the rainbow?', 'Violet', 'Red|Green|Violet|Yellow'),
  ask(0.7, 'How many bones does a grown person have?', '206', '186|206|226|306'),
  ask(0.3, 'Which bird cannot fly?', 'Penguin', 'Swan|Penguin|Puffin|Pelican|Crane'),
  ask(0.6, 'Which is the smallest prime number?', '2', '0|1|2|3'),
  ask(0.5, 'Which sea has no coast?', 'Sargasso Sea', 'Red Sea|Coral Sea|Sargasso Sea|Baltic Sea'),
];

/** The trivia with this question text; undefined when there is none. */
export function triviaOf(question: string): Trivia | undefined {
  return byQuestion.get(question);
}

const byQuestion = new Map(TRIVIA.map((trivia) => [trivia.question, trivia]));
