import { useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { EntryForm } from './entry-form.tsx';
import { texts } from './texts.ts';

/** Prints a link that sets the password of a member. */
const LINK_COMMAND = 'fourbeat member link';

export function SignInPage({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const help = (
    <p className="text-sm text-quiet">
      <TextTemplate text={texts.signIn.help}>
        <code>{LINK_COMMAND}</code>
      </TextTemplate>
    </p>
  );
  return (
    <EntryForm
      title={texts.signIn.title}
      operation="signIn"
      body={{ email, password }}
      action={texts.signIn.action}
      onSession={onSession}
      help={help}
    >
      <TextField
        label={texts.fields.email}
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        isRequired
        autoFocus
      />
      <TextField
        label={texts.fields.password}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        isRequired
      />
    </EntryForm>
  );
}
