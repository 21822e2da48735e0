import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { toFourbeatError } from '../../sdk/errors.ts';
import type { ChatKind, ChatMode } from '../../sdk/types.ts';
import type { Viewer, ViewerState } from '../../sdk/viewer.ts';
import { Icon } from '../icon.tsx';
import { storeName } from '../identity.ts';
import { texts } from '../texts.ts';
import { charsLeft, charsLeftText, errorText, modeText, toSingleLine } from './compose-text.ts';
import { HeartButton } from './heart-button.tsx';
import { KindPicker } from './kind-picker.tsx';
import { NameForm } from './name-form.tsx';
import { useSlowModeWait } from './use-slow-mode-wait.ts';

interface ComposeProps {
  readonly viewer: Viewer;
  readonly state: ViewerState;
  readonly mode: ChatMode;
  /** Called when the service has accepted a message. */
  onSent(kind: ChatKind, name: string, text: string): void;
}

/** The form for chat messages. It asks for a name once, with the first message. */
export function Compose({ viewer, state, mode, onSent }: ComposeProps) {
  const { paused } = mode;
  const [kind, setKind] = useState<ChatKind>('message');
  const [wasAskedForName, setWasAskedForName] = useState(viewer.name !== '');
  const field = useRef<HTMLInputElement>(null);
  const { typed, setTyped, text, step, setStep, error, setError, waitS, send } = useSending(
    { viewer, state, mode, onSent },
    kind,
  );
  const isNaming = step === 'name-first' || step === 'name-change';
  useFocusAfterNaming(field, isNaming);
  // The host page of an embedded player may have set the name.
  const hasName = () => wasAskedForName || viewer.name !== '';
  const leftChars = charsLeft(text);
  const counter = charsLeftText(leftChars);
  const cannotSend = text === '' || leftChars < 0 || step === 'sending' || paused || waitS > 0;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (cannotSend) return;
    // Keeps the on-screen keyboard open when the button is tapped.
    field.current?.focus();
    if (hasName()) void send();
    else setStep('name-first');
  };
  const setName = (name: string) => {
    viewer.name = name;
    storeName(name);
    setWasAskedForName(true);
    // A viewer who only changes the name may not have finished the message.
    if (step === 'name-change') setStep('write');
    else void send();
  };

  if (isNaming) {
    return (
      <div className="compose">
        <NameForm name={viewer.name} onSubmit={setName} />
      </div>
    );
  }
  return (
    <div className="compose">
      <form className="compose-form" onSubmit={submit}>
        <KindPicker kind={kind} onPick={setKind} />
        <input
          ref={field}
          className="field compose-field"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setError(null);
          }}
          aria-label={texts.compose.write[kind]}
          placeholder={paused ? texts.compose.paused : texts.compose.write[kind]}
          readOnly={step === 'sending' || paused}
          dir="auto"
          aria-invalid={leftChars < 0}
          aria-describedby="compose-notes"
          autoComplete="off"
          enterKeyHint="send"
        />
        <button type="submit" className="round-button compose-send" aria-disabled={cannotSend}>
          <Icon name="send" />
          <span className="unseen">{texts.compose.send}</span>
        </button>
      </form>
      <HeartButton viewer={viewer} isPaused={paused} />
      <p className="compose-notes" id="compose-notes">
        <span className="compose-error" role="alert">
          {error}
        </span>
        {/* A screen reader does not read a timer every second. */}
        <span className="compose-mode" role={waitS > 0 ? 'timer' : 'status'}>
          {modeText(mode, waitS)}
        </span>
        {hasName() && (
          <button type="button" className="compose-name" onClick={() => setStep('name-change')}>
            {viewer.name === ''
              ? texts.compose.postingAnonymously
              : texts.compose.postingAs(<bdi key="name">{viewer.name}</bdi>)}{' '}
            · <u>{texts.compose.changeName}</u>
          </button>
        )}
        {counter && <span className={leftChars < 0 ? 'compose-over' : ''}>{counter}</span>}
      </p>
    </div>
  );
}

type Step = 'write' | 'name-first' | 'name-change' | 'sending';

/** The message that is being written, and what happens to it. */
function useSending({ viewer, state, mode, onSent }: ComposeProps, kind: ChatKind) {
  const [typed, setTyped] = useState('');
  const [step, setStep] = useState<Step>('write');
  const [error, setError] = useState<string | null>(null);
  const { waitS, startWait } = useSlowModeWait();
  const { slowModeMs, paused } = mode;
  const text = toSingleLine(typed);

  const send = async () => {
    setStep('sending');
    setError(null);
    try {
      await viewer.sendMessage(kind, text);
      onSent(kind, viewer.name, text);
      setTyped('');
      startWait(slowModeMs);
    } catch (thrown) {
      const sendError = toFourbeatError(thrown);
      startWait(sendError.retryAfterMs ?? 0);
      setError(errorText(sendError));
    }
    setStep('write');
  };
  useEffect(() => {
    // The cause of the error may be gone.
    if (state === 'live' && !paused) setError(null);
  }, [state, paused]);
  useEffect(() => {
    if (slowModeMs === 0) startWait(0);
  }, [slowModeMs, startWait]);
  return { typed, setTyped, text, step, setStep, error, setError, waitS, send };
}

/** Focuses the text field when it replaces the name form. */
function useFocusAfterNaming(field: RefObject<HTMLInputElement | null>, isNaming: boolean): void {
  const wasNaming = useRef(isNaming);
  useEffect(() => {
    if (wasNaming.current && !isNaming) field.current?.focus();
    wasNaming.current = isNaming;
  }, [field, isNaming]);
}
