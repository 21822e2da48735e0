import { useState } from 'react';
import { useStudio } from '../api/studio-context.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { NewPassword } from '../session/new-password.tsx';
import { useSession } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { roleLabel } from '../team/roles.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { TextField } from '../ui/text-field.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

/** The profile of the signed-in member: name, password, sign-out. */
export function YouPage() {
  const { member, account } = useSession();
  return (
    <Page title={texts.title}>
      <p className="text-quiet wrap-anywhere">
        {member.email} ·{' '}
        <TextTemplate text={texts.roleOf(roleLabel(member.role))}>
          <bdi>{account.name}</bdi>
        </TextTemplate>
      </p>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <NameForm />
        <PasswordForm />
        <SignOutSection />
      </div>
    </Page>
  );
}

const CARD = 'grid gap-5 rounded-2xl border border-line bg-card p-4 sm:p-6';

function NameForm() {
  const [name, setName] = useState(useSession().member.name);
  const { mutate, isPending } = useApiMutation('patchOwnMember', {
    invalidates: ['readSession', 'listMembers'],
    onSuccess: () => showSuccess(texts.name.done),
  });
  return (
    <Form className={CARD} onSubmit={() => mutate({ body: { name } })}>
      <h2 className="text-lg font-bold">{texts.name.title}</h2>
      <TextField
        label={texts.name.label}
        value={name}
        onChange={setName}
        maxLength={80}
        isRequired
      />
      <div>
        <Button type="submit" isPending={isPending}>
          {texts.name.action}
        </Button>
      </div>
    </Form>
  );
}

function PasswordForm() {
  const [currentPassword, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const { mutate, isPending } = useApiMutation('patchOwnMember', {
    onSuccess: () => {
      setCurrent('');
      setPassword('');
      showSuccess(texts.password.done);
    },
  });
  return (
    <Form className={CARD} onSubmit={() => mutate({ body: { password, currentPassword } })}>
      <h2 className="text-lg font-bold">{texts.password.title}</h2>
      <TextField
        label={texts.password.current}
        type="password"
        autoComplete="current-password"
        value={currentPassword}
        onChange={setCurrent}
        isRequired
      />
      <NewPassword value={password} onChange={setPassword} />
      <div>
        <Button type="submit" isPending={isPending}>
          {texts.password.action}
        </Button>
      </div>
    </Form>
  );
}

function SignOutSection() {
  const studio = useStudio();
  const onSuccess = () => studio.onSignedOut();
  const here = useApiMutation('signOut', { onSuccess });
  const everywhere = useApiMutation('signOutEverywhere', { onSuccess });
  return (
    <section className={CARD} aria-labelledby="sign-out">
      <h2 id="sign-out" className="text-lg font-bold">
        {texts.signOut.title}
      </h2>
      <div className="flex flex-wrap gap-3">
        <Button onPress={() => here.mutate()} isPending={here.isPending}>
          {texts.signOut.here}
        </Button>
        <Button
          variant="danger"
          onPress={() => everywhere.mutate()}
          isPending={everywhere.isPending}
        >
          {texts.signOut.everywhere}
        </Button>
      </div>
      <p className="text-sm text-quiet">{texts.signOut.everywhereHelp}</p>
    </section>
  );
}
