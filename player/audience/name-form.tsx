import { type FormEvent, useEffect, useRef, useState } from 'react';
import { CHAT_NAME_CHARS } from '../../protocol/limits.ts';
import { texts } from '../texts.ts';
import { toSingleLine } from './compose-text.ts';

interface NameFormProps {
  readonly name: string;
  /** @param name empty: the viewer wants none */
  onSubmit(name: string): void;
}

/** Asks for the name that the chat shows. */
export function NameForm({ name, onSubmit }: NameFormProps) {
  const [typed, setTyped] = useState(name);
  const field = useRef<HTMLInputElement>(null);
  const newName = toSingleLine(typed);
  // The form replaces the text field, which had the focus.
  useEffect(() => field.current?.focus(), []);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(newName);
  };
  return (
    <form className="name-form" onSubmit={submit}>
      <label className="name-label" htmlFor="name">
        {texts.compose.name}
      </label>
      <input
        id="name"
        ref={field}
        className="field"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        maxLength={CHAT_NAME_CHARS}
        dir="auto"
        autoComplete="nickname"
        enterKeyHint="done"
      />
      <button type="submit" className="action">
        {newName === '' ? texts.compose.skip : texts.compose.continue}
      </button>
    </form>
  );
}
