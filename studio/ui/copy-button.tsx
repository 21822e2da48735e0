import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { tellFailure } from './toasts.tsx';

/** It says for so long that it was copied. */
const COPIED_MS = 2_000;

interface CopyButtonProps {
  /** What is copied, in words: "stream key". */
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
      .catch(() => tellFailure(new Error(`Your browser does not let this page copy the ${what}.`)));
  return (
    <Button
      onPress={copy}
      aria-label={isCopied ? `Copied the ${what}` : `Copy the ${what}`}
      size="icon"
    >
      {isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
    </Button>
  );
}
