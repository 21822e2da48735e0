import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { DialogActions } from './dialog-actions.tsx';
import { Form } from './form.tsx';
import { texts } from './texts.ts';
import { useUnsavedChanges } from './unsaved-changes.ts';

interface DialogFormProps {
  /** Label of the submit button, a verb. */
  readonly action: string;
  /** The values of the form: the dialog asks before it discards changes of them. */
  readonly fields: unknown;
  readonly isPending: boolean;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  /** `native`: the browser blocks an invalid form; `aria`: `onSubmit` is called all the same. */
  readonly validation?: 'native' | 'aria';
  readonly children: ReactNode;
}

/** A form in a dialog, with a submit and a cancel button. */
export function DialogForm(props: DialogFormProps) {
  const { action, fields, isPending, onSubmit, onCancel, validation = 'native', children } = props;
  useUnsavedChanges(fields);
  return (
    <Form className="grid grid-cols-1 gap-5" validationBehavior={validation} onSubmit={onSubmit}>
      {/* What is changed while it is being saved would be lost. */}
      <div className="contents" inert={isPending}>
        {children}
      </div>
      <DialogActions>
        <Button onPress={onCancel}>{texts.cancel}</Button>
        <Button type="submit" variant="primary" isPending={isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
