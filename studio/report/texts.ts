import { quantity } from '../ui/quantity.ts';

/** Digits and units stay on one line. */
const NBSP = '\u00a0';

const quizzes = (count: number) => (count === 1 ? '1 quiz' : `${count.toLocaleString()} quizzes`);

/** The texts of the report of a show. */
export const texts = {
  loading: 'Loading report',
  print: 'Print',
  noPermission: {
    title: 'Reports are for owners and hosts',
    help: 'Ask an owner or a host to print the report or send you its files.',
  },
  notEnded: {
    title: 'The show has not ended yet',
    help: 'The report is created automatically when the show ends.',
    link: 'Go to the show',
  },
  progress: {
    title: 'Creating the report',
    help: 'You can leave this page.',
    failed: 'The report could not be created',
    failedHelp:
      'The service retries automatically and this page updates. No data is lost. The service log has the reason.',
  },
  units: {
    hours: (hours: number) => `${hours} h`,
    minutes: (minutes: number) => `${minutes} min`,
    seconds: (seconds: number) => `${seconds} s`,
    /** @param seconds with its decimals */
    exactSeconds: (seconds: string) => `${seconds}${NBSP}s`,
    percent: (percentage: number) => `${percentage}${NBSP}%`,
    lessThanOnePercent: `less than 1${NBSP}%`,
    unknown: '–',
  },
  figures: {
    label: 'Figures',
    dates: (startTime: string, endTime: string) => `Started ${startTime}, ended ${endTime}.`,
    neverStarted: (endTime: string) => `Ended ${endTime}. Never started.`,
    peak: 'Peak viewers',
    /** @param position time since the start of the show, such as "4:09" */
    peakHelp: (time: string, position: string) => `at ${time}, ${position} in`,
    noViewers: 'No viewers',
    average: 'Average viewers',
    averageHelp: 'over the whole show',
    unique: 'Unique viewers',
    uniqueHelp: 'opened the show',
    minutes: 'Minutes watched',
    minutesHelp: 'total of all viewers',
    duration: 'Duration',
    durationHelp: 'from start to end',
  },
  timeline: {
    title: 'Audience',
    help: 'Numbers mark the quizzes.',
    noCount: 'no count',
    watching: (viewers: number) => `${viewers.toLocaleString()} watching`,
    chart: (quizCount: number) => `Viewers over the show; ${quizzes(quizCount)} marked`,
    chartWithPeak: (peak: number, quizCount: number) =>
      `Viewers over the show, peak ${peak.toLocaleString()}; ${quizzes(quizCount)} marked`,
    recording: 'Recording of the show',
    position: 'Position in the recording',
    notRecorded: 'The show was not recorded.',
    recordingUnavailable: 'The recording is not available.',
  },
  quizzes: {
    title: 'Quizzes',
    empty: 'No quizzes were sent.',
    showMore: (left: number) => `Show more (${left.toLocaleString()} left)`,
    showInRecording: (number: number) => `Show quiz ${number} in the recording`,
    noAnswers: 'No answers.',
    answered: (answers: number, correctShare: string) =>
      `${answers.toLocaleString()} answered, ${correctShare} correct`,
    halfWithin: (time: string) => `half within ${time}`,
    mostWithin: (time: string) => `90${NBSP}% within ${time}`,
    lastMoment: (share: string, time: string) => `${share} in the last ${time}`,
    answerTimes: 'Answer times',
    answerTimesChart: (from: string, to: string) => `Most answers came between ${from} and ${to}`,
  },
  fairness: {
    title: 'Fairness',
    noAnswers: 'No answers.',
    onlyAnswer: (time: string) => `The only answer came ${time} the quiz was sent.`,
    times: (answers: number, first: string, median: string, last: string) =>
      `Of ${answers.toLocaleString()} answers the first came ${first} the quiz was sent, half of them within ${median}, and the last after ${last}.`,
    /** The start of the interval with the quiz may be later than its first answer. */
    before: (time: string) => `${time} before`,
    after: (time: string) => `${time} after`,
    noneEarly: 'No answer arrived before its quiz could be on screen.',
    early: (answers: number, share: string) =>
      `${quantity(answers, 'answer')} (${share}) arrived before the quiz could be on screen. Such answers come from programs, not from people.`,
    lastMoment: (share: string, time: string) =>
      `${share} came in the last ${time} before the close.`,
    lastMomentAdvice:
      'This is a large share: viewers with a delayed video may have had too little time. A larger latency allowance helps.',
  },
  winners: {
    title: 'Winners',
    loading: 'Loading winners',
    empty: 'Winners were not announced.',
    count: (winners: number) => quantity(winners, 'winner'),
    round: (number: number, time: string, quizCount: number) =>
      `round ${number}, ${time}, of ${quizzes(quizCount)}`,
    show: 'Show winners',
    hide: 'Hide winners',
    roundLabel: (number: number) => `: round ${number}`,
    list: 'Winners by report time',
    partialList: 'Some winners by report time',
    /** `{}`: the winners file */
    incomplete: (round: number, missing: number, count: number) =>
      `The list of round ${round} is incomplete: ${missing.toLocaleString()} of ${quantity(count, 'winner')} ${missing === 1 ? 'is' : 'are'} missing, perhaps the earliest. All are in the file {}.`,
    after: (time: string) => `after ${time}`,
    more: (count: number) =>
      `${count.toLocaleString()} more ${count === 1 ? 'is' : 'are'} in the winners file.`,
  },
  chat: {
    title: 'Chat',
    message: 'Messages',
    question: 'Questions',
    greeting: 'Greetings',
    cheer: 'Cheers',
    hearts: 'Hearts',
    purchase: 'Purchases',
    discounts: 'Discounts',
  },
  files: {
    title: 'Files',
    download: (file: string, format: string) => `${file} as ${format}`,
    exportResults: { title: 'Results', description: 'Counts for each choice of each quiz' },
    exportAnswers: { title: 'Answers', description: 'Each answer with viewer and time' },
    exportWinners: { title: 'Winners', description: 'The winners of each round by name and code' },
    exportContacts: { title: 'Contacts', description: 'What winners gave as contact details' },
    exportAudience: { title: 'Audience', description: 'Viewer count for each second' },
    exportChat: { title: 'Chat', description: 'Every message that viewers received' },
    exportFeed: { title: 'Feed', description: 'Every event that viewers received' },
  },
};
