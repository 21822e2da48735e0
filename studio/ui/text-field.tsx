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
  /** What is seen above it; without one it needs an `aria-label`. */
  readonly label?: string;
  /** What is said below it. */
  readonly help?: string;
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** So many lines are seen; one: no line breaks. */
  readonly rows?: number;
}

export function TextField({
  label,
  help,
  error,
  placeholder = '',
  rows = 1,
  ...rest
}: TextFieldProps) {
  const { value } = rest;
  const field = useRef<(HTMLInputElement & HTMLTextAreaElement) | null>(null);
  // What was wrong is gone from the page as soon as it is mended, and not when the field is left:
  // the button would move from under the finger that presses it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is written is what makes it valid
  useEffect(() => {
    if (field.current?.validity.valid) field.current.dispatchEvent(new Event('change'));
  }, [value]);
  return (
    <AriaTextField {...rest} {...invalidWith(error)} className="grid gap-1.5">
      {label && <Label className="text-sm font-semibold">{label}</Label>}
      {rows > 1 ? (
        <TextArea
          ref={field}
          rows={rows}
          placeholder={placeholder}
          className={classes(FIELD, 'resize-y')}
        />
      ) : (
        <Input ref={field} placeholder={placeholder} className={FIELD} />
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
