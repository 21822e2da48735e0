import {
  banSchema,
  chatModePatchSchema,
  chatModeSchema,
  chatPinSchema,
  hiddenMessagesSchema,
  hideMessagesSchema,
  muteSchema,
  pinMessageSchema,
  questionPostSchema,
  questionsQuerySchema,
  queuedQuestionSchema,
  restrictedViewerSchema,
} from './moderation.ts';
import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { memberRead, memberWrite } from './studio-operation.ts';

const STREAM = '/studio/v1/streams/{stream_id}';
const viewerRestricted = { 201: { description: 'The viewer', schema: restrictedViewerSchema } };
const restrictionLifted = { 204: { description: 'They are not, or never were' } };

/** How those who run a show keep its chat in order (SPEC C). */
export const moderationApi = {
  patchChatMode: {
    ...memberWrite,
    method: 'PATCH',
    path: `${STREAM}/chat`,
    summary: 'Slow the chat down, or pause it',
    description: 'Viewers are told with an event `chat-mode` when it changes something.',
    body: chatModePatchSchema,
    responses: { 200: { description: 'How the chat goes', schema: chatModeSchema } },
    errors: [404],
  },
  hideChatLines: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/hidden`,
    summary: 'Take lines out of the chat',
    description:
      'Viewers are told with an event `chat-hidden` of those that were not hidden before.',
    body: hideMessagesSchema,
    responses: { 201: { description: 'The lines that are hidden', schema: hiddenMessagesSchema } },
    errors: [404, 409],
  },
  pinChatLine: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/pin`,
    summary: 'Show a line above the chat, or none',
    description: 'Viewers are told with an event `chat-pinned` when it changes something.',
    body: pinMessageSchema,
    responses: { 201: { description: 'The line', schema: chatPinSchema } },
    errors: [404, 409],
  },
  muteViewer: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Let a viewer write nothing more and send no hearts',
    body: muteSchema,
    bodyOptional: true,
    responses: viewerRestricted,
    errors: [404, 409],
  },
  unmuteViewer: {
    ...memberWrite,
    method: 'DELETE',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Let a viewer who was muted write again',
    responses: restrictionLifted,
    errors: [404],
  },
  banViewer: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Send a viewer out of the show',
    description:
      'Whatever they ask for is 401 within a second, on every node, and they are counted no longer.',
    body: banSchema,
    bodyOptional: true,
    responses: viewerRestricted,
    errors: [404, 409],
  },
  unbanViewer: {
    ...memberWrite,
    method: 'DELETE',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Let a viewer who was banned come back',
    responses: restrictionLifted,
    errors: [404],
  },
  listRestricted: {
    ...memberRead,
    method: 'GET',
    path: `${STREAM}/restricted`,
    summary: 'Who is muted or banned, newest first',
    responses: { 200: { description: 'The viewers', schema: listOf(restrictedViewerSchema) } },
    errors: [404],
  },
  queueQuestion: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/questions/{line_id}`,
    summary: 'Put a line into the queue of questions, or change its state there',
    body: questionPostSchema,
    responses: { 201: { description: 'The question', schema: queuedQuestionSchema } },
    errors: [404, 409],
  },
  listQuestions: {
    ...memberRead,
    method: 'GET',
    path: `${STREAM}/chat/questions`,
    summary: 'The queue of questions, in the order in which they were written',
    query: questionsQuerySchema,
    responses: { 200: { description: 'The questions', schema: listOf(queuedQuestionSchema) } },
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
