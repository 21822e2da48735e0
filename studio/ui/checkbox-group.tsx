import { Check } from 'lucide-react';
import {
  CheckboxGroup as AriaCheckboxGroup,
  Checkbox,
  FieldError,
  Label,
} from 'react-aria-components';
import { texts } from './texts.ts';

interface CheckboxGroupProps<Value extends string> {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly text: string }[];
  readonly value: readonly Value[];
  readonly onChange: (value: Value[]) => void;
  /** At least one must be selected. */
  readonly isRequired?: boolean;
}

export function CheckboxGroup<Value extends string>(props: CheckboxGroupProps<Value>) {
  const { label, options, value, onChange, isRequired = false } = props;
  return (
    <AriaCheckboxGroup
      value={[...value]}
      onChange={(selected) => onChange(selected as Value[])}
      isRequired={isRequired}
      className="grid gap-1.5"
    >
      <Label className="text-sm font-semibold">{label}</Label>
      <div>
        {options.map((option) => (
          <Checkbox
            key={option.value}
            value={option.value}
            className="group flex min-h-11 items-center gap-3"
          >
            <span
              aria-hidden="true"
              className="grid size-6 shrink-0 place-items-center rounded-md border border-edge bg-card text-on-accent group-selected:border-accent group-selected:bg-accent group-invalid:border-bad group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus"
            >
              <Check className="invisible size-4 group-selected:visible" />
            </span>
            {option.text}
          </Checkbox>
        ))}
      </div>
      <FieldError className="text-sm text-bad">{texts.chooseOne}</FieldError>
    </AriaCheckboxGroup>
  );
}
