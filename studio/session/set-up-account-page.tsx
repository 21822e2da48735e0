import { useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { EntryForm } from './entry-form.tsx';
import { LinkGate } from './link-gate.tsx';
import { NewPassword } from './new-password.tsx';
import { texts } from './texts.ts';
import { useLink } from './use-link.ts';

interface SetUpAccountPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** The page of the first start: the first user of its link becomes the owner. */
export function SetUpAccountPage({ token, onSession }: SetUpAccountPageProps) {
  const link = useLink('lookAtSetupLink', token);
  return <LinkGate link={link}>{() => <SetUpForm token={token} onSession={onSession} />}</LinkGate>;
}

function SetUpForm({ token, onSession }: SetUpAccountPageProps) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  return (
    <EntryForm
      title={texts.firstStart.title}
      operation="setUp"
      body={{ token, name, email, password }}
      action={texts.firstStart.action}
      onSession={onSession}
    >
      <p className="text-quiet">{texts.firstStart.explanation}</p>
      <TextField
        label={texts.fields.name}
        autoComplete="name"
        value={name}
        onChange={setName}
        maxLength={80}
        isRequired
        autoFocus
      />
      <TextField
        label={texts.fields.email}
        help={texts.fields.emailHelp}
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        isRequired
      />
      <NewPassword value={password} onChange={setPassword} />
    </EntryForm>
  );
}
