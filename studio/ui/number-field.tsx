import { Minus, Plus } from 'lucide-react';
import {
  NumberField as AriaNumberField,
  type NumberFieldProps as AriaNumberFieldProps,
  Button,
  FieldError,
  Group,
  Input,
  Label,
  Text,
} from 'react-aria-components';
import { FOCUS_RING } from './classes.ts';
import { invalidWith } from './invalid-with.ts';

interface NumberFieldProps extends Omit<AriaNumberFieldProps, 'className' | 'style' | 'children'> {
  readonly label: string;
  readonly help?: string;
  readonly error?: string | undefined;
}

const STEP = `grid size-11 shrink-0 place-items-center rounded-lg hover:bg-raised disabled:opacity-55 ${FOCUS_RING}`;

export function NumberField({ label, help, error, ...rest }: NumberFieldProps) {
  return (
    <AriaNumberField {...rest} {...invalidWith(error)} className="grid gap-1.5">
      <Label className="text-sm font-semibold">{label}</Label>
      <Group className="flex w-full rounded-lg border border-edge bg-card focus-within:outline-3 focus-within:outline-offset-1 focus-within:outline-focus">
        <Button slot="decrement" className={STEP}>
          <Minus className="size-4" />
        </Button>
        <Input className="w-full min-w-0 bg-transparent text-center tabular-nums outline-none" />
        <Button slot="increment" className={STEP}>
          <Plus className="size-4" />
        </Button>
      </Group>
      {help && (
        <Text slot="description" className="text-sm text-quiet">
          {help}
        </Text>
      )}
      <FieldError className="text-sm text-bad">{error}</FieldError>
    </AriaNumberField>
  );
}
