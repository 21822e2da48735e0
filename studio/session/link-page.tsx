import { useState } from 'react';
import type { Link, Session } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { EntryForm } from './entry-form.tsx';
import { LinkGate } from './link-gate.tsx';
import { NewPassword } from './new-password.tsx';
import { texts } from './texts.ts';
import { useLink } from './use-link.ts';

interface LinkPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** The page of an invitation or a password reset. */
export function LinkPage({ token, onSession }: LinkPageProps) {
  const link = useLink('lookAtLink', token);
  return (
    <LinkGate link={link}>
      {(data) => <AcceptForm token={token} link={data} onSession={onSession} />}
    </LinkGate>
  );
}

function AcceptForm({ token, link, onSession }: LinkPageProps & { readonly link: Link }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isNew = link.kind === 'invitation';
  return (
    <EntryForm
      title={isNew ? texts.invitation.title(link.account.name) : texts.passwordReset.title}
      {...(isNew && {
        heading: (
          <TextTemplate text={texts.invitation.heading}>
            <bdi>{link.account.name}</bdi>
          </TextTemplate>
        ),
      })}
      operation="acceptLink"
      body={{ token, password, ...(isNew && { name }) }}
      action={isNew ? texts.invitation.action : texts.passwordReset.action}
      onSession={onSession}
    >
      <p className="text-quiet wrap-anywhere">
        {isNew
          ? texts.invitation.explanation(link.role, link.email)
          : texts.passwordReset.explanation(link.email)}
      </p>
      {/* Password managers store a password under this name. */}
      <input type="hidden" autoComplete="username" value={link.email} readOnly />
      {isNew && (
        <TextField
          label={texts.fields.name}
          autoComplete="name"
          value={name}
          onChange={setName}
          maxLength={80}
          isRequired
          autoFocus
        />
      )}
      <NewPassword value={password} onChange={setPassword} />
    </EntryForm>
  );
}
