import { type FormEvent, useEffect, useRef, useState } from 'react';
import { CHAT_NAME_CHARS } from '../../protocol/limits.ts';
import { cleaned } from './compose-words.ts';

interface NameFormProps {
  readonly name: string;
  /** Empty: the viewer wants none. */
  onGiven(name: string): void;
}

/** Asks what the viewer wants to be called. */
export function NameForm({ name, onGiven }: NameFormProps) {
  const [typed, setTyped] = useState(name);
  const box = useRef<HTMLInputElement>(null);
  const given = cleaned(typed);
  // It stands where the viewer was about to write.
  useEffect(() => box.current?.focus(), []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    onGiven(given);
  };
  return (
    <form className="name-form" onSubmit={submit}>
      <label className="name-label" htmlFor="name">
        Your name, shown beside what you write
      </label>
      <input
        id="name"
        ref={box}
        className="field"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        maxLength={CHAT_NAME_CHARS}
        autoComplete="nickname"
        enterKeyHint="done"
      />
      <button type="submit" className="action">
        {given === '' ? 'Go without' : 'Go on'}
      </button>
    </form>
  );
}
