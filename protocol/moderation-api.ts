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
const restrictionLifted = { 204: { description: 'The viewer is no longer restricted' } };

/** Moderation of the chat (SPEC C). */
export const moderationApi = {
  patchChatMode: {
    ...memberWrite,
    method: 'PATCH',
    path: `${STREAM}/chat`,
    summary: 'Change slow mode or pause the chat',
    description: 'Viewers receive a `chat-mode` event if this changes anything.',
    body: chatModePatchSchema,
    responses: { 200: { description: 'The chat mode', schema: chatModeSchema } },
    errors: [404],
  },
  hideChatLines: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/hidden`,
    summary: 'Hide chat messages from viewers',
    description:
      'Viewers receive a `chat-hidden` event with the messages that were not hidden before.',
    body: hideMessagesSchema,
    responses: { 201: { description: 'The hidden messages', schema: hiddenMessagesSchema } },
  },
  pinChatLine: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/pin`,
    summary: 'Pin a message above the chat, or unpin it',
    description: 'Viewers receive a `chat-pinned` event if this changes anything.',
    body: pinMessageSchema,
    responses: { 201: { description: 'The pinned message', schema: chatPinSchema } },
  },
  muteViewer: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Mute a viewer: no messages and no hearts',
    body: muteSchema,
    bodyOptional: true,
    responses: viewerRestricted,
  },
  unmuteViewer: {
    ...memberWrite,
    method: 'DELETE',
    path: `${STREAM}/chat/muted/{viewer}`,
    summary: 'Unmute a viewer',
    responses: restrictionLifted,
    errors: [404],
  },
  banViewer: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Ban a viewer from the show',
    description:
      'Within a second every request of the viewer returns 401 and the viewer is no longer counted.',
    body: banSchema,
    bodyOptional: true,
    responses: viewerRestricted,
  },
  unbanViewer: {
    ...memberWrite,
    method: 'DELETE',
    path: `${STREAM}/banned/{viewer}`,
    summary: 'Unban a viewer',
    responses: restrictionLifted,
    errors: [404],
  },
  listRestricted: {
    ...memberRead,
    method: 'GET',
    path: `${STREAM}/restricted`,
    summary: 'List muted and banned viewers, newest first',
    responses: { 200: { description: 'The viewers', schema: listOf(restrictedViewerSchema) } },
  },
  queueQuestion: {
    ...memberWrite,
    method: 'POST',
    path: `${STREAM}/chat/questions/{line_id}`,
    summary: 'Add a message to the question queue, or change its state there',
    body: questionPostSchema,
    responses: { 201: { description: 'The question', schema: queuedQuestionSchema } },
  },
  listQuestions: {
    ...memberRead,
    method: 'GET',
    path: `${STREAM}/chat/questions`,
    summary: 'List the question queue, in the order in which the questions were written',
    query: questionsQuerySchema,
    responses: { 200: { description: 'The questions', schema: listOf(queuedQuestionSchema) } },
  },
} as const satisfies Record<string, Operation>;
