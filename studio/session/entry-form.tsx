import { type ReactNode, useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import type { RequestOf } from '../api/studio-client.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { messageOf } from '../ui/states.tsx';
import { EntryCard } from './entry-card.tsx';

/** An operation that responds with a new session. */
type EntryOperation = 'signIn' | 'setUp' | 'acceptLink';

interface EntryFormProps {
  readonly title: string;
  readonly heading?: ReactNode;
  readonly operation: EntryOperation;
  readonly body: RequestOf<EntryOperation>;
  /** Label of the submit button. */
  readonly action: string;
  readonly onSession: (session: Session) => void;
  readonly children: ReactNode;
  /** Shown below the submit button. */
  readonly help?: ReactNode;
}

/** A page with a form that starts a session. */
export function EntryForm(props: EntryFormProps) {
  const { title, heading = title, operation, body, action, onSession, children, help } = props;
  const [error, setError] = useState<unknown>(null);
  const { mutate, isPending } = useApiMutation(operation, {
    onSuccess: onSession,
    onError: setError,
  });
  const submit = () => {
    setError(null);
    mutate({ body });
  };
  return (
    <EntryCard title={title} heading={heading}>
      <Form className="grid gap-5" onSubmit={submit}>
        {children}
        {error !== null && (
          <p role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
            {messageOf(error)}
          </p>
        )}
        <Button type="submit" variant="primary" isPending={isPending} isWide>
          {action}
        </Button>
        {help}
      </Form>
    </EntryCard>
  );
}
