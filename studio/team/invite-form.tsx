import { useState } from 'react';
import type { MemberRole } from '../../protocol/members.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ROLE_OPTIONS } from './roles.ts';
import { texts } from './texts.ts';

/** Creates an invitation link, which the user sends by any means. */
export function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('host');
  const [link, setLink] = useState<string | null>(null);
  const { mutate, isPending } = useApiMutation('invite', {
    invalidates: ['listInvitations'],
    onSuccess: (invitation) => setLink(invitation.link),
  });
  if (link !== null) {
    return (
      <OneTimeSecret copyLabel={texts.invite.copyLink} secret={link} onClose={onClose}>
        {texts.invite.sendLink(email)}
      </OneTimeSecret>
    );
  }
  return (
    <DialogForm
      action={texts.invite.action}
      fields={{ email, role }}
      isPending={isPending}
      onSubmit={() => mutate({ body: { email, role } })}
      onCancel={onClose}
    >
      <TextField
        label={texts.invite.email}
        help={texts.invite.emailHelp}
        type="email"
        value={email}
        onChange={setEmail}
        isRequired
        autoFocus
      />
      <Select label={texts.invite.role} value={role} options={ROLE_OPTIONS} onChange={setRole} />
    </DialogForm>
  );
}
