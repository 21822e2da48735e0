import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { showError } from './toasts.tsx';

/** Time for which the button confirms the copy. */
const COPIED_MS = 2_000;

interface CopyButtonProps {
  /** What the text is, for labels: "stream key". */
  readonly what: string;
  readonly text: string;
}

export function CopyButton({ what, text }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    navigator.clipboard
      .writeText(text)
      .then(() => setCopied(true))
      .catch(() =>
        showError(
          new Error(`Your browser blocked copying the ${what}. Select and copy it by hand.`),
        ),
      );
  return (
    <Button
      onPress={copy}
      aria-label={isCopied ? `Copied the ${what}` : `Copy the ${what}`}
      icon={isCopied ? <Check /> : <Copy />}
    />
  );
}
