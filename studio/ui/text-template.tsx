import type { ReactNode } from 'react';

interface TextTemplateProps {
  /** A text of a catalog with `{}` in the place of the element. */
  readonly text: string;
  /** The element, such as a name in `<bdi>`. */
  readonly children: ReactNode;
}

/** A text around an element. The text decides about the place, which differs between languages. */
export function TextTemplate({ text, children }: TextTemplateProps) {
  const [before, after = ''] = text.split('{}');
  return (
    <>
      {before}
      {children}
      {after}
    </>
  );
}
