import {
  banSchema,
  chatModePatchSchema,
  chatModeSchema,
  chatPinSchema,
  hiddenLinesSchema,
  hideLinesSchema,
  muteSchema,
  pinLineSchema,
  questionPostSchema,
  questionsQuerySchema,
  queuedQuestionSchema,
  restrictedViewerSchema,
} from './moderation.ts';
import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { membersWrite, read } from './studio-operation.ts';

const STREAM = '/studio/v1/streams/{stream_id}';
const restricted = { 201: { description: 'The viewer', schema: restrictedViewerSchema } };
const lifted = { 204: { description: 'They are not, or never were' } };

/** How those who run a show keep its chat in order (SPEC C). */
export const moderationApi = {
  patchChatMode: {
    ...membersWrite,
    method: 'PATCH',
    path: `${STREAM}/chat`,
    summary: 'Slow the chat down, or pause it',
    description: 'Viewers are told with an event `chat-mode` when it changes something.',
    body: chatModePatchSchema,
    answers: { 200: { description: 'How the chat goes', schema: chatModeSchema } },
    errors: [404],
  },
  hideChatLines: {
    ...membersWrite,
    method: 'POST',
    path: `${STREAM}/chat/hidden`,
    summary: 'Take lines out of the chat',
    description:
      'Viewers are told with an event `chat-hidden` of those that were not hidden before.',
    body: hideLinesSchema,
    answers: { 201: { description: 'The lines that are hidden', schema: hiddenLinesSchema } },
    errors: [404, 409],
  },
  pinChatLine: {
    ...membersWrite,
    method: 'POST',
    path: `${STREAM}/chat/pin`,
    summary: 'Show a line above the chat, or none',
    description: 'Viewers are told with an event `chat-pinned` when it changes something.',
    body: pinLineSchema,
    answers: { 201: { description: 'The line', schema: chatPinSchema } },
    errors: [404, 409],
  },
  muteViewer: {
    ...membersWrite,
    method: 'POST',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Let a viewer write nothing more and send no hearts',
    body: muteSchema,
    bodyOptional: true,
    answers: restricted,
    errors: [404, 409],
  },
  unmuteViewer: {
    ...membersWrite,
    method: 'DELETE',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Let a viewer who was muted write again',
    answers: lifted,
    errors: [404],
  },
  banViewer: {
    ...membersWrite,
    method: 'POST',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Send a viewer out of the show',
    description:
      'Whatever they ask for is 401 within a second, on every node, and they are counted no longer.',
    body: banSchema,
    bodyOptional: true,
    answers: restricted,
    errors: [404, 409],
  },
  unbanViewer: {
    ...membersWrite,
    method: 'DELETE',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Let a viewer who was banned come back',
    answers: lifted,
    errors: [404],
  },
  listRestricted: {
    ...read,
    method: 'GET',
    path: `${STREAM}/restricted`,
    summary: 'Who is muted or banned, newest first',
    answers: { 200: { description: 'The viewers', schema: listOf(restrictedViewerSchema) } },
    errors: [404],
  },
  queueQuestion: {
    ...membersWrite,
    method: 'POST',
    path: `${STREAM}/chat/questions/{line_id}`,
    summary: 'Put a line into the queue of questions, or change its state there',
    body: questionPostSchema,
    answers: { 201: { description: 'The question', schema: queuedQuestionSchema } },
    errors: [404, 409],
  },
  listQuestions: {
    ...read,
    method: 'GET',
    path: `${STREAM}/chat/questions`,
    summary: 'The queue of questions, in the order in which they were written',
    query: questionsQuerySchema,
    answers: { 200: { description: 'The questions', schema: listOf(queuedQuestionSchema) } },
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
