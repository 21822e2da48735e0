import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { texts } from './texts.ts';
import { showError } from './toasts.tsx';

/** Time for which the button confirms the copy. */
const COPIED_MS = 2_000;

interface CopyButtonProps {
  /** Accessible name: "Copy the stream key". */
  readonly label: string;
  readonly text: string;
}

export function CopyButton({ label, text }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      // On a page that is not on https or localhost the browser has no clipboard: this throws too.
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      showError(new Error(texts.copyingBlocked));
    }
  };
  return (
    <Button
      onPress={copy}
      aria-label={isCopied ? texts.copied : label}
      icon={isCopied ? <Check /> : <Copy />}
    />
  );
}
