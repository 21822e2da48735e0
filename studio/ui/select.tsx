import { Check, ChevronDown } from 'lucide-react';
import {
  Select as AriaSelect,
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
} from 'react-aria-components';
import { classes, FIELD } from './classes.ts';

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly text: string;
    readonly help?: string;
  }[];
  readonly onChange: (value: Value) => void;
  readonly isDisabled?: boolean;
  /** The label is for screen readers only. */
  readonly isLabelHidden?: boolean;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, onChange, isDisabled = false, isLabelHidden = false } = props;
  return (
    <AriaSelect
      value={value}
      onChange={(key) => onChange(key as Value)}
      isDisabled={isDisabled}
      className="grid gap-1.5"
    >
      <Label className={isLabelHidden ? 'sr-only' : 'text-sm font-semibold'}>{label}</Label>
      <Button className={classes(FIELD, 'flex items-center justify-between gap-2 text-left')}>
        <SelectValue className="truncate">
          {({ selectedText, defaultChildren }) => selectedText ?? defaultChildren}
        </SelectValue>
        <ChevronDown className="size-4 shrink-0" />
      </Button>
      <Popover className="min-w-(--trigger-width) rounded-lg border border-line bg-card p-1 shadow-lg">
        <ListBox className="max-h-80 overflow-auto outline-none">
          {options.map((option) => (
            <ListBoxItem
              key={option.value}
              id={option.value}
              textValue={option.text}
              className="flex min-h-11 cursor-default items-center gap-2 rounded-md px-2 outline-none focus:bg-accent-soft"
            >
              {({ isSelected }) => (
                <>
                  <Check className={classes('size-4', !isSelected && 'invisible')} />
                  <span className="grid">
                    <Text slot="label">{option.text}</Text>
                    {option.help && (
                      <Text slot="description" className="text-sm text-quiet">
                        {option.help}
                      </Text>
                    )}
                  </span>
                </>
              )}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
