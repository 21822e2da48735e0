import { type FormEvent, useEffect, useRef, useState } from 'react';
import { asTrouble } from '../../sdk/errors.ts';
import type { ChatKind, ChatMode } from '../../sdk/types.ts';
import type { Viewer, ViewerState } from '../../sdk/viewer.ts';
import { Icon } from '../icon.tsx';
import { keepName } from '../identity.ts';
import { charsLeft, cleaned, modeWords, roomWords, troubleWords } from './compose-words.ts';
import { HeartButton } from './heart-button.tsx';
import { KindPicker } from './kind-picker.tsx';
import { NameForm } from './name-form.tsx';
import { useTurn } from './use-turn.ts';

interface ComposeProps {
  readonly viewer: Viewer;
  readonly state: ViewerState;
  readonly mode: ChatMode;
  /** A line was taken. */
  onSaid(kind: ChatKind, name: string, text: string): void;
}

const HINTS: Record<ChatKind, string> = {
  message: 'Write a message',
  question: 'Ask a question',
  greeting: 'Say hello',
  cheer: 'Cheer',
};

/** Where a viewer writes. The name is asked for once, with the first line. */
export function Compose({ viewer, state, mode, onSaid }: ComposeProps) {
  const [kind, setKind] = useState<ChatKind>('message');
  const [typed, setTyped] = useState('');
  const [step, setStep] = useState<'write' | 'name-first' | 'name-change' | 'sending'>('write');
  const [isAsked, setIsAsked] = useState(viewer.name !== '');
  const [trouble, setTrouble] = useState<string | null>(null);
  const { seconds, wait } = useTurn();
  const { slowModeMs, paused } = mode;
  const box = useRef<HTMLInputElement>(null);
  /** From the name, to the box that was not there meanwhile. */
  const isBack = useRef(false);
  const isNaming = step === 'name-first' || step === 'name-change';
  // The page around this one may have said it.
  const isNamed = () => isAsked || viewer.name !== '';
  const text = cleaned(typed);
  const left = charsLeft(text);
  const room = roomWords(left);
  const mayNotSend = text === '' || left < 0 || step === 'sending' || paused || seconds > 0;

  const send = async () => {
    setStep('sending');
    setTrouble(null);
    try {
      await viewer.say(kind, text);
      onSaid(kind, viewer.name, text);
      setTyped('');
      wait(slowModeMs);
    } catch (thrown) {
      const said = asTrouble(thrown);
      wait(said.retryAfterMs ?? 0);
      setTrouble(troubleWords(said));
    }
    setStep('write');
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (mayNotSend) return;
    // A keyboard on the screen stays when the button is pressed.
    box.current?.focus();
    if (isNamed()) void send();
    else setStep('name-first');
  };
  const named = (name: string) => {
    viewer.name = name;
    keepName(name);
    isBack.current = true;
    setIsAsked(true);
    // Who only changes it may not be done with the line.
    if (step === 'name-change') setStep('write');
    else void send();
  };
  useEffect(() => {
    // What was in the way of a line is gone.
    if (state === 'live' && !paused) setTrouble(null);
  }, [state, paused]);
  useEffect(() => {
    if (slowModeMs === 0) wait(0);
  }, [slowModeMs, wait]);
  useEffect(() => {
    if (isNaming || !isBack.current) return;
    isBack.current = false;
    box.current?.focus();
  }, [isNaming]);

  if (isNaming) {
    return (
      <div className="compose">
        <NameForm name={viewer.name} onGiven={named} />
      </div>
    );
  }
  return (
    <div className="compose">
      <form className="compose-form" onSubmit={submit}>
        <KindPicker kind={kind} onPick={setKind} />
        <input
          ref={box}
          className="field compose-field"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setTrouble(null);
          }}
          aria-label={HINTS[kind]}
          placeholder={paused ? 'Paused' : HINTS[kind]}
          readOnly={step === 'sending' || paused}
          aria-invalid={left < 0}
          aria-describedby="compose-notes"
          autoComplete="off"
          enterKeyHint="send"
        />
        <button type="submit" className="round-button compose-send" aria-disabled={mayNotSend}>
          <Icon name="send" />
          <span className="unseen">Send</span>
        </button>
      </form>
      <HeartButton viewer={viewer} isPaused={paused} />
      <p className="compose-notes" id="compose-notes">
        <span className="compose-trouble" role="alert">
          {trouble}
        </span>
        {/* What counts down is not read out each second. */}
        <span className="compose-mode" role={seconds > 0 ? 'timer' : 'status'}>
          {modeWords(mode, seconds)}
        </span>
        {isNamed() && (
          <button type="button" className="compose-name" onClick={() => setStep('name-change')}>
            {viewer.name === '' ? 'You write without a name' : `You write as ${viewer.name}`} ·{' '}
            <u>change</u>
          </button>
        )}
        {room && <span className={left < 0 ? 'compose-over' : ''}>{room}</span>}
      </p>
    </div>
  );
}
