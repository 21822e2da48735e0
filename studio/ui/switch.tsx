import { Switch as AriaSwitch } from 'react-aria-components';

interface SwitchProps {
  readonly label: string;
  readonly help?: string;
  readonly isSelected: boolean;
  readonly onChange: (isSelected: boolean) => void;
  readonly isDisabled?: boolean;
}

export function Switch({ label, help, ...rest }: SwitchProps) {
  return (
    <AriaSwitch {...rest} className="group flex min-h-11 items-center gap-3 disabled:opacity-60">
      <span
        aria-hidden="true"
        className="flex h-6 w-11 shrink-0 items-center rounded-full border border-edge bg-raised px-0.5 motion-safe:transition-colors group-selected:border-accent group-selected:bg-accent group-focus-visible:outline-3 group-focus-visible:outline-offset-2 group-focus-visible:outline-focus"
      >
        <span className="size-4.5 rounded-full bg-edge motion-safe:transition-transform group-selected:translate-x-5 group-selected:bg-on-accent" />
      </span>
      <span className="grid">
        <span className="font-semibold">{label}</span>
        {help && <span className="text-sm text-quiet">{help}</span>}
      </span>
    </AriaSwitch>
  );
}
