import { Form as AriaForm, type FormProps as AriaFormProps } from 'react-aria-components';

interface FormProps extends Omit<AriaFormProps, 'onSubmit'> {
  readonly onSubmit: () => void;
}

/** A form that the page submits itself, without leaving the page. */
export function Form({ onSubmit, ...rest }: FormProps) {
  return (
    <AriaForm
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}
