import { useEffect, useRef } from 'react';
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
} from 'react-aria-components';
import { classes, FIELD } from './classes.ts';
import { invalidWith } from './invalid-with.ts';

interface TextFieldProps extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  /** Visible label; without one, set `aria-label`. */
  readonly label?: string;
  /** Shown below the field. */
  readonly help?: string;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** Visible lines; 1: a single-line input. */
  readonly rows?: number;
}

export function TextField(props: TextFieldProps) {
  const { label, help, error, placeholder = '', rows = 1, ...rest } = props;
  const field = useRef<(HTMLInputElement & HTMLTextAreaElement) | null>(null);
  // Clears a validation message as soon as the value is valid, and not on blur: the layout would
  // move under a press on the submit button.
  // biome-ignore lint/correctness/useExhaustiveDependencies: validity depends on the value
  useEffect(() => {
    if (field.current?.validity.valid) field.current.dispatchEvent(new Event('change'));
  }, [rest.value]);
  return (
    <AriaTextField {...rest} {...invalidWith(error)} className="grid gap-1.5">
      {label && <Label className="text-sm font-semibold">{label}</Label>}
      {rows > 1 ? (
        <TextArea
          ref={field}
          rows={rows}
          placeholder={placeholder}
          dir="auto"
          className={classes(FIELD, 'resize-y')}
        />
      ) : (
        <Input ref={field} placeholder={placeholder} dir="auto" className={FIELD} />
      )}
      {help && (
        <Text slot="description" className="text-sm text-quiet">
          {help}
        </Text>
      )}
      <FieldError className="text-sm text-bad">{error}</FieldError>
    </AriaTextField>
  );
}
