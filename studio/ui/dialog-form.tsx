import type { ReactNode } from 'react';
import { Form } from 'react-aria-components';
import { Button } from './button.tsx';

interface DialogFormProps {
  /** What the button does, as a verb. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  /** `aria`: what is wrong is said, and it can be sent all the same; the browser stops it otherwise. */
  readonly validation?: 'native' | 'aria';
  readonly children: ReactNode;
}

/** What is filled in in a dialog, with the two ways out of it. */
export function DialogForm(props: DialogFormProps) {
  const { action, isPending, onSubmit, onCancel, validation = 'native', children } = props;
  return (
    <Form
      className="grid gap-5"
      validationBehavior={validation}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <div className="flex justify-end gap-3">
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isPending={isPending}>
          {action}
        </Button>
      </div>
    </Form>
  );
}
