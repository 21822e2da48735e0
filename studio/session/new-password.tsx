import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';

interface NewPasswordProps {
  readonly value: string;
  readonly onChange: (password: string) => void;
}

/** A field for a new password, which password managers can fill. */
export function NewPassword({ value, onChange }: NewPasswordProps) {
  return (
    <TextField
      label="New password"
      help={`At least ${PASSWORD_CHARS_MIN} characters.`}
      type="password"
      autoComplete="new-password"
      value={value}
      onChange={onChange}
      minLength={PASSWORD_CHARS_MIN}
      maxLength={PASSWORD_CHARS_MAX}
      isRequired
    />
  );
}
