import type { ImportFormat } from '../../protocol/rundown.ts';

const importFormats: Readonly<Record<ImportFormat, string>> = {
  'fourbeat-json': 'Fourbeat, JSON',
  'fourbeat-csv': 'Fourbeat, CSV',
  opentdb: 'Open Trivia Database, JSON',
  'the-trivia-api': 'The Trivia API, JSON',
  'kahoot-csv': 'Kahoot spreadsheet, as CSV',
};

const quizzes = (count: number) => (count === 1 ? '1 quiz' : `${count.toLocaleString()} quizzes`);

/** The texts of the rundown page and of the editor of quizzes. */
export const texts = {
  loading: 'Loading quizzes',
  emptyTitle: 'No quizzes yet',
  emptyHelp: 'Prepare quizzes before the show. On air, you send each with one press.',
  create: 'New quiz',
  import: 'Import',
  exportAs: 'Export as',
  list: {
    label: 'Quizzes',
    states: { open: 'Open', closed: 'Closed', revealed: 'Results shown' },
    /** `{}` is the correct answer. */
    summary: (choices: number, seconds: number) => `${choices} choices · ${seconds} s · answer: {}`,
    actions: (question: string) => `Actions for “${question}”`,
    edit: 'Edit',
    duplicate: 'Duplicate',
    delete: 'Delete',
    deleteTitle: 'Delete the quiz?',
    conflict: 'Someone else changed the rundown. Move the quiz again.',
  },
  editor: {
    createTitle: 'New quiz',
    editTitle: 'Edit quiz',
    add: 'Add',
    save: 'Save',
    question: 'Question',
    time: 'Time to answer, seconds',
    manualReveal: 'Show results manually',
    manualRevealHelp: 'Otherwise they appear as soon as the quiz closes.',
    choices: 'Choices',
    choicesHelp: 'Mark the correct answer.',
    choice: (number: number) => `Choice ${number}`,
    choiceIsCorrect: (number: number) => `Choice ${number} is correct`,
    removeChoice: (number: number) => `Remove choice ${number}`,
    addChoice: 'Add choice',
  },
  /** `error` is the message of the validation: "must not be blank". */
  errors: {
    question: (error: string) => `The question ${error}.`,
    time: (error: string) => `The time ${error}.`,
    choice: (error: string) => `This choice ${error}.`,
    emptyChoice: 'Enter a choice or remove it.',
    sameChoice: 'This choice already exists.',
    noCorrectChoice: 'Select the correct answer.',
  },
  importForm: {
    title: 'Import quizzes',
    chooseFile: 'Choose a file',
    sample: 'Try a sample',
    tooLarge: 'The file is larger than 1 MB. Choose a JSON or CSV file with quizzes.',
    unreadable: 'The file could not be read. Choose it again.',
    text: 'Or paste the content',
    textHelp: 'The format is recognized, also that of Open Trivia Database.',
    format: 'Format',
    formats: importFormats,
    action: 'Preview',
    done: (count: number) => `${quizzes(count)} added to the rundown.`,
    errors: 'Nothing was imported. Fix these errors first:',
    more: (count: number) => `and ${count.toLocaleString()} more`,
  },
  importPreview: {
    title: (count: number) => `Import ${quizzes(count)}?`,
    help: 'Added as drafts at the end of the rundown.',
    more: (count: number) => `and ${count.toLocaleString()} more`,
    correct: '(correct)',
    seconds: (seconds: number) => `${seconds} s`,
    back: 'Back',
    action: (count: number) => `Import ${quizzes(count)}`,
  },
  latency: {
    title: 'Video delay',
    video: 'The video as viewers see it',
    measuring: 'Measuring the video delay…',
    /** `{}` is the delay. */
    delay:
      'The video arrives {} after the camera, and viewers see a question together with the video.',
    seconds: (seconds: string) => `${seconds}\u00a0s`,
    tooShort: (allowance: string, missing: string) =>
      `The latency allowance is ${allowance}, so viewers lose ${missing} of their time to answer.`,
    tooLong: (allowance: string, surplus: string) =>
      `The latency allowance is ${allowance}: results appear ${surplus} later than necessary.`,
    fits: (allowance: string) =>
      `The latency allowance of ${allowance} gives viewers their full time to answer.`,
    set: (allowance: string) => `Set to ${allowance}`,
    done: 'Saved. It applies to quizzes sent from now on.',
  },
};
