import { randomUUID } from 'node:crypto';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';
import { newMember, type SignedIn } from '../studio/member-browser.ts';
import type { Ask, Contract } from './contract.ts';

/** A response that agreed with the document, and the status that it was to have. */
export type Answered = readonly [Response, number];
/** Does what makes an operation succeed, and what makes it refuse in ways of its own. */
export type Exercises = Record<string, () => Promise<Answered[]>>;

/** A running service, and the document that its responses are held against. */
export class Fixture {
  private host: Promise<SignedIn> | null = null;
  private readonly ids = new Map<string, Promise<string>>();

  constructor(
    readonly service: Harness,
    readonly contract: Contract,
  ) {}

  /** A stream with a viewer and an open quiz, everything that can be addressed. */
  async show() {
    const streamId = await this.service.createStream();
    const viewer = await this.service.viewer(streamId);
    const quiz = await this.service.publishQuiz(streamId, { reveal: 'manual', duration: 1_000 });
    return { streamId, viewer, quiz };
  }

  /** A host who stays in the account, signed in. */
  member(): Promise<SignedIn> {
    this.host ??= newMember(this.service, 'host');
    return this.host;
  }

  /** The id of what an operation made once, and which stays: an account may have so many of each. */
  kept(operationId: string, body: object): Promise<string> {
    const id = this.ids.get(operationId) ?? this.made(operationId, { body });
    this.ids.set(operationId, id);
    return id;
  }

  async ask(operationId: string, ask: Ask = {}): Promise<Response> {
    return this.contract.ask(this.service.url, operationId, ask);
  }

  /** With the account's service token. */
  async studio(operationId: string, ask: Ask = {}): Promise<Response> {
    const authorization = `Token ${this.service.account.token}`;
    return this.ask(operationId, { authorization, ...ask });
  }

  /** The id of what an operation makes. */
  async made(operationId: string, ask: Ask): Promise<string> {
    return (await expectJson<{ id: string }>(await this.studio(operationId, ask), 201)).id;
  }

  /** The operation in a new stream, and in one that there is not. */
  async inStream(operationId: string, ask: Ask, status: number): Promise<Answered[]> {
    const params = { stream_id: await this.service.createStream() };
    const missing = { stream_id: randomUUID() };
    return [
      [await this.studio(operationId, { ...ask, params }), status],
      [await this.studio(operationId, { ...ask, params: missing }), status < 400 ? 404 : status],
    ];
  }
}

export const WEBHOOK = { url: 'https://hooks.example.org/', events: ['stream.started'] };

export const bearer = ({ token }: TestViewer) => `Bearer ${token}`;
