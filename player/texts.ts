import type { ReactNode } from 'react';
import type { ChatKind } from '../sdk/types.ts';

const formatCount = (count: number): string => count.toLocaleString('en');

/** The kinds of chat messages that viewers send. */
const chatKinds: Readonly<Record<ChatKind, string>> = {
  message: 'Message',
  question: 'Question',
  greeting: 'Greeting',
  cheer: 'Cheer',
};

/** Labels of the text field, by the kind of message. */
const writeLabels: Readonly<Record<ChatKind, string>> = {
  message: 'Write a message',
  question: 'Ask a question',
  greeting: 'Say hello',
  cheer: 'Cheer',
};

/** The texts of the viewer page. */
export const texts = {
  watchShow: 'Watch the show',
  about: 'About',
  banned: { title: 'You cannot watch this show', reason: 'The host removed you from this show.' },
  lobby: {
    soon: 'Starting any moment',
    starts: (time: string) => `Starts ${time}`,
    countdown: 'Time until the start',
    daysAndHours: (days: number, hours: number) =>
      `${days} ${days === 1 ? 'day' : 'days'} ${hours} h`,
  },
  stage: {
    label: 'Video',
    live: 'Live',
    goToLive: 'Go to live',
    // The controls have labels in lower case.
    goToLiveLabel: 'go to live',
    fillWindow: 'Fill window',
    turnOnSound: 'Turn on sound',
    watchAgain: 'Watch again',
    reload: 'Reload the page',
    play: 'Play',
  },
  badge: {
    states: { CREATED: 'Not started', STREAMING: 'Live', ENDED: 'Replay' },
    over: 'Ended',
    catchingUp: 'Catching up…',
    connecting: 'Connecting…',
  },
  /** What the stage says in place of the video. */
  notices: {
    joining: { title: 'Joining…', more: '' },
    unknown: { title: 'Show not found', more: 'Check the link and try again.' },
    denied: {
      title: 'You cannot join this show',
      more: 'Open the link again from where you got it.',
    },
    unavailable: { title: 'Cannot connect to the show', more: 'Trying again…' },
    lobby: { title: 'The show has not started yet', more: 'Stay here. It starts automatically.' },
    waiting: {
      title: 'Waiting for the video…',
      more: 'The show is on. Its video starts automatically.',
    },
    stalled: { title: 'The video is interrupted', more: 'It resumes automatically.' },
    pressPlay: { title: 'Press play to watch', more: '' },
    over: { title: 'The show is over', more: 'Thanks for watching.' },
    notLoaded: { title: 'The video player did not load', more: '' },
    noRecording: { title: 'The show is over', more: 'There is no recording.' },
  },
  stats: {
    label: 'Playback stats',
    videoInterval: 'Video interval',
    feedInterval: 'Feed interval',
    latestEvent: 'Latest event',
    liveInterval: 'Live interval',
    latency: 'Latency',
    seconds: (seconds: string) => `${seconds} s`,
    resolution: 'Resolution',
    close: 'Close',
  },
  audience: {
    sounds: 'Quiz sounds',
    label: 'Audience',
    hearts: 'hearts',
    waiting: 'waiting',
    watching: 'watching',
    peak: 'watching at peak',
  },
  product: {
    label: 'For sale',
    announcement: (name: string) => `For sale: ${name}`,
    buy: 'Buy',
    newTab: '(opens a new tab)',
    soldOut: 'Sold out',
    left: (count: number) => `only ${count} left`,
    close: 'Close the offer',
  },
  hearts: {
    send: 'Send a heart',
    sent: (count: number) => (count === 1 ? 'Heart sent' : `${count} hearts sent`),
  },
  chat: {
    label: 'Chat',
    kinds: { ...chatKinds, purchase: 'Purchase' },
    discounts: 'Discounts',
    discountsUsed: (count: number) => `${count} used`,
    empty: 'No messages yet. Say hello!',
    emptyReplay: 'Messages appear as you watch.',
    over: 'The show is over. The chat is closed.',
    pendingMessage: 'Sent, visible soon',
    newMessages: 'New messages',
    latest: 'Latest',
    pinned: 'Pinned message',
    more: 'More',
    less: 'Less',
    ofPinned: 'of the pinned message',
    readAloud: 'Read new messages aloud',
  },
  /** What screen readers announce for new messages. */
  chatAnnouncements: {
    anonymous: 'Someone',
    message: (name: string, text: string) => `${name} says: ${text}`,
    question: (name: string, text: string) => `${name} asks: ${text}`,
    greeting: (name: string, text: string) => `${name} greets: ${text}`,
    cheer: (name: string, text: string) => `${name} cheers: ${text}`,
    // The text of a purchase contains the verb, such as "bought two mugs".
    purchase: (name: string, text: string) => `${name} ${text}`,
    many: (count: number) => `${count} new messages in the chat.`,
    manyWithQuestions: (count: number, questions: number) =>
      `${count} new messages in the chat, ${questions} of them ${questions > 1 ? 'questions' : 'a question'}.`,
  },
  compose: {
    kind: 'Type of message',
    write: writeLabels,
    paused: 'Paused',
    send: 'Send',
    postingAs: (name: ReactNode): ReactNode => ['Posting as ', name],
    postingAnonymously: 'Posting without a name',
    changeName: 'change',
    name: 'Your name, shown with your messages',
    skip: 'Skip',
    continue: 'Continue',
    tooMany: (chars: number) => `${chars} too many`,
    left: (chars: number) => `${chars} left`,
    seconds: (seconds: number) => `${seconds} s`,
    minutes: (minutes: number) => `${minutes} min`,
    /** @param time such as "4:09" */
    minutesAndSeconds: (time: string) => `${time} min`,
    chatPaused: 'The chat is paused.',
    slowMode: (wait: string) => `Slow mode: one message every ${wait}.`,
    slowModeWait: (wait: string) => `Slow mode: you can write again in ${wait}.`,
    tooManyMessages: 'Too many messages at once.',
    wait: (wait: string) => `You can write again in ${wait}.`,
    tryLater: 'Try again in a moment.',
    notSentYet: 'Your message is not sent yet.',
    errors: {
      denied: 'You cannot write here. Reload the page to try again.',
      unknown: 'This show no longer exists.',
      refused: 'This message was not accepted. Change it and try again.',
      unavailable: 'Cannot connect. Your text is still here: try again in a moment.',
      left: 'You left the show.',
    },
  },
  quiz: {
    label: 'Quiz',
    phases: {
      open: 'Quiz',
      answered: 'Quiz',
      closed: 'Time is up',
      replayed: 'Quiz',
      revealed: 'Results',
    },
    show: 'Show',
    hide: 'Hide',
    theQuiz: 'the quiz',
    secondsLeft: 'seconds left',
    moreChoices: 'More choices',
    moreResults: 'More results',
    rejected: 'Your answer was not accepted. Choose again.',
    pickOne: 'Pick one. You cannot change it later.',
    sending: 'Sending your answer…',
    counted: 'Answer locked in!',
    otherAnswer: 'Your earlier answer from another device or tab counts.',
    tooLate: 'Your answer came too late and does not count.',
    unconfirmed: 'We could not confirm your answer. It may or may not count.',
    resultsSoon: 'Results coming soon.',
    replayed: 'Viewers answered this during the live show.',
    notAnswered: 'You did not answer this one.',
    wrong: 'Not this time.',
    correct: 'Correct!',
    correctUnconfirmed: 'Correct. We could not confirm your answer. It may or may not count.',
    correctChoice: 'Correct',
    ownChoice: 'Your answer',
    percent: (percentage: number) => `${percentage} percent,`,
    answers: (count: number) => (count === 1 ? 'answer' : 'answers'),
    canWin: 'All your answers so far are correct. You can still win!',
    isOut: 'You are out of this round. Keep playing: the next round is open to everyone.',
  },
  /** What screen readers announce for a quiz. */
  quizAnnouncements: {
    question: (question: string, choices: string, seconds: number) =>
      `Quiz: ${question} ${choices}. ${seconds} seconds.`,
    choice: (number: number, text: string) => `${number}: ${text}`,
    closedQuestion: (question: string, status: string) => `Quiz: ${question} ${status}`,
    secondsLeft: (seconds: number) => `${seconds} seconds left.`,
    timeIsUp: (status: string) => `Time is up. ${status}`,
    youChose: (choice: string) => `You chose ${choice}.`,
    answer: (answer: string, percentage: number) =>
      `The answer is ${answer}, chosen by ${percentage} percent.`,
  },
  winners: {
    label: 'Winners',
    close: 'Close',
    code: 'Your code:',
    whoWon: 'Who won?',
    counting: 'Counting the winners…',
    youWon: 'You won!',
    only: 'You are the only winner.',
    oneOf: (count: number) => `You are one of ${formatCount(count)} winners.`,
    nobody: 'Nobody won.',
    others: (count: number) =>
      count === 1 ? 'One viewer won.' : `${formatCount(count)} viewers won.`,
    wellPlayed: 'Well played.',
    nextRound: 'If there is another round, everyone can win it.',
  },
};
