import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { act, createElement, useEffect } from 'react';
import type { Root } from 'react-dom/client';
import type { JoinOptions } from './join-options.ts';
import { type MockService, mockService } from './mock/mock-service.ts';
import { useRemainingMs, useSnapshot, useViewer } from './react.ts';
import type { Snapshot, Viewer } from './viewer.ts';

// The minimum of a DOM that React needs for components without elements.
const page = { nodeType: 9, addEventListener: () => {} };
const container = {
  nodeType: 1,
  nodeName: 'DIV',
  tagName: 'DIV',
  namespaceURI: 'http://www.w3.org/1999/xhtml',
  ownerDocument: page,
  textContent: '',
  addEventListener: () => {},
};
const globals = globalThis as Record<string, unknown>;

/** Values of the hooks at the last render. */
interface HookValues {
  viewer: Viewer | null;
  snapshot: Snapshot | null;
  remainingMs: number;
}

let root: Root;
let service: MockService;
let hookValues: HookValues;
const joined = new Set<Viewer>();

beforeAll(async () => {
  globals.window = { HTMLIFrameElement: class {} };
  globals.IS_REACT_ACT_ENVIRONMENT = true;
});
afterAll(() => {
  delete globals.window;
  delete globals.IS_REACT_ACT_ENVIRONMENT;
});
beforeEach(async () => {
  const { createRoot } = await import('react-dom/client');
  root = createRoot(container as unknown as Element);
  service = mockService();
  joined.clear();
});

function TestComponent({ options }: { options: JoinOptions | null }) {
  const viewer = useViewer(options);
  const snapshot = useSnapshot(viewer);
  const remainingMs = useRemainingMs(viewer, 50);
  useEffect(() => {
    hookValues = { viewer, snapshot, remainingMs };
    if (viewer) joined.add(viewer);
  });
  return null;
}

function optionsOf(overrides: object = {}): JoinOptions {
  return {
    baseUrl: 'https://live.example',
    streamId: service.streamId,
    viewerId: 'ada',
    environment: { fetch: service.fetch },
    ...overrides,
  };
}

afterEach(async () => {
  await act(async () => root.unmount());
});

async function render(options: JoinOptions | null): Promise<void> {
  await act(async () => root.render(createElement(TestComponent, { options })));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
}

describe('useViewer', () => {
  test('joins when the component mounts, and leaves when it unmounts', async () => {
    await render(null);
    expect(hookValues.viewer).toBeNull();
    expect(hookValues.snapshot).toBeNull();
    await render(optionsOf());
    const { viewer } = hookValues;
    expect(viewer?.streamId).toBe(service.streamId);
    expect(viewer?.state).not.toBe('ended');
    await act(async () => root.unmount());
    expect(viewer?.state).toBe('ended');
  });

  test('joins anew for another viewer, not for equal options', async () => {
    await render(optionsOf({ getToken: async () => 'one' }));
    const { viewer } = hookValues;
    await render(optionsOf({ getToken: async () => 'two' }));
    expect(hookValues.viewer).toBe(viewer);
    expect(joined.size).toBe(1);
    await render(optionsOf({ viewerId: 'grace' }));
    expect(joined.size).toBe(2);
    expect(viewer?.state).toBe('ended');
    expect(hookValues.viewer?.state).not.toBe('ended');
    await render(null);
    expect([...joined].map(({ state }) => state)).toEqual(['ended', 'ended']);
    expect(hookValues.viewer).toBeNull();
  });

  test('calls the latest getToken, and updates the name', async () => {
    const calledGetTokens: string[] = [];
    const getToken = (name: string) => async () => {
      calledGetTokens.push(name);
      return 'nonsense';
    };
    await render(optionsOf({ name: 'Ada', getToken: getToken('first') }));
    expect(hookValues.viewer?.name).toBe('Ada');
    expect(new Set(calledGetTokens)).toEqual(new Set(['first']));
    calledGetTokens.length = 0;
    await render(optionsOf({ name: 'Countess', getToken: getToken('second') }));
    expect(hookValues.viewer?.name).toBe('Countess');
    await until(() => calledGetTokens.length > 0);
    expect(calledGetTokens[0]).toBe('second');
  });
});

describe('useSnapshot', () => {
  test('rerenders when the snapshot changes', async () => {
    await render(optionsOf());
    await until(() => hookValues.snapshot?.state === 'live');
    service.sendMessage('message', 'Hello');
    await until(() => hookValues.snapshot?.messages.length === 1);
    expect(hookValues.snapshot).toBe(hookValues.viewer?.snapshot ?? null);
  });
});

describe('useRemainingMs', () => {
  test('counts down while a quiz is open, and is 0 otherwise', async () => {
    await render(optionsOf());
    await until(() => hookValues.snapshot?.state === 'live');
    expect(hookValues.remainingMs).toBe(0);
    service.openQuiz({ choices: ['Mars', 'Jupiter'], answer: 'Jupiter', durationMs: 1_500 });
    await until(() => hookValues.remainingMs > 0);
    const firstMs = hookValues.remainingMs;
    expect(firstMs).toBeLessThan(1_500);
    await until(() => hookValues.remainingMs < firstMs - 200);
    await until(() => hookValues.snapshot?.quiz?.results !== null);
    expect(hookValues.remainingMs).toBe(0);
  });
});
