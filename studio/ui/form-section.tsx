import type { ReactNode } from 'react';
import { Button, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { FOCUS_RING } from './classes.ts';

interface FormSectionProps {
  readonly title: string;
  readonly isOpenAtFirst: boolean;
  readonly children: ReactNode;
}

/** Fields of a form that few users need: the title shows and hides them. */
export function FormSection({ title, isOpenAtFirst, children }: FormSectionProps) {
  return (
    <Disclosure defaultExpanded={isOpenAtFirst}>
      <Heading level={3}>
        <Button slot="trigger" className={`min-h-11 font-semibold underline ${FOCUS_RING}`}>
          {title}
        </Button>
      </Heading>
      <DisclosurePanel className="grid gap-5 pt-2">{children}</DisclosurePanel>
    </Disclosure>
  );
}
