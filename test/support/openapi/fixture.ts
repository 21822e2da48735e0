import { randomUUID } from 'node:crypto';
import { expectJson, type Harness, QUIZ, type TestViewer } from '../harness/harness.ts';
import { newMember, type SignedIn } from '../studio/user-agent.ts';
import type { Contract, OperationRequest } from './contract.ts';

/** A response that matched the document, and its expected status. */
export type CheckedResponse = readonly [Response, number];
/** For each operation, a function that provokes its successes and its specific errors. */
export type Exercises = Record<string, () => Promise<CheckedResponse[]>>;

/** A running service and the contract that checks its responses. */
export class Fixture {
  private sharedHost: Promise<SignedIn> | null = null;
  private readonly ids = new Map<string, Promise<string>>();

  constructor(
    readonly service: Harness,
    readonly contract: Contract,
  ) {}

  /** Creates a stream with a viewer and an open quiz. */
  async createShow() {
    const streamId = await this.service.createStream();
    const viewer = await this.service.viewer(streamId);
    const quiz = await this.service.publishQuiz(streamId, { reveal: 'manual', duration: 1_000 });
    return { streamId, viewer, quiz };
  }

  /** A signed-in host, shared by all tests. */
  host(): Promise<SignedIn> {
    this.sharedHost ??= newMember(this.service, 'host');
    return this.sharedHost;
  }

  /** The id of an object that is created once for all tests, because accounts have limits. */
  sharedId(operationId: string, body: object): Promise<string> {
    const id = this.ids.get(operationId) ?? this.createdId(operationId, { body });
    this.ids.set(operationId, id);
    return id;
  }

  send(operationId: string, request: OperationRequest = {}): Promise<Response> {
    return this.contract.send(this.service.url, operationId, request);
  }

  /** Sends a request, with the account's service token unless `request` has credentials. */
  sendAsAccount(operationId: string, request: OperationRequest = {}): Promise<Response> {
    const authorization = `Token ${this.service.account.token}`;
    return this.send(operationId, { authorization, ...request });
  }

  /** The id of an object that an operation creates. */
  async createdId(operationId: string, request: OperationRequest): Promise<string> {
    return (await expectJson<{ id: string }>(await this.sendAsAccount(operationId, request), 201))
      .id;
  }

  /** Sends a request twice, with the account's service token unless `request` has credentials. */
  async sendTwice(
    operationId: string,
    request: OperationRequest,
    firstStatus: number,
    secondStatus: number,
  ): Promise<CheckedResponse[]> {
    return [
      [await this.sendAsAccount(operationId, request), firstStatus],
      [await this.sendAsAccount(operationId, request), secondStatus],
    ];
  }

  newDraft(streamId: string): Promise<string> {
    return this.createdId('createQuiz', { params: { stream_id: streamId }, body: QUIZ });
  }

  /** Sends a request for a new stream and an unknown one, which gets 404 or the same error. */
  async sendInStream(
    operationId: string,
    request: OperationRequest,
    status: number,
  ): Promise<CheckedResponse[]> {
    const params = { stream_id: await this.service.createStream() };
    const missing = { stream_id: randomUUID() };
    const known = await this.sendAsAccount(operationId, { ...request, params });
    const unknown = await this.sendAsAccount(operationId, { ...request, params: missing });
    return [
      [known, status],
      [unknown, status < 400 ? 404 : status],
    ];
  }
}

export const WEBHOOK = { url: 'https://hooks.example.org/', events: ['stream.started'] };

export const bearer = ({ token }: TestViewer) => `Bearer ${token}`;
