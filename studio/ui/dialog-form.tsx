import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { DialogActions } from './dialog-actions.tsx';
import { Form } from './form.tsx';

interface DialogFormProps {
  /** Label of the submit button, a verb. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  /** `native`: the browser blocks an invalid form; `aria`: `onSubmit` is called all the same. */
  readonly validation?: 'native' | 'aria';
  readonly children: ReactNode;
}

/** A form in a dialog, with a submit and a cancel button. */
export function DialogForm(props: DialogFormProps) {
  const { action, isPending, onSubmit, onCancel, validation = 'native', children } = props;
  return (
    <Form className="grid grid-cols-1 gap-5" validationBehavior={validation} onSubmit={onSubmit}>
      {children}
      <DialogActions>
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
