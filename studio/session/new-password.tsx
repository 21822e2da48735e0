import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { texts } from './texts.ts';

interface NewPasswordProps {
  readonly value: string;
  readonly onChange: (password: string) => void;
}

/** A field for a new password, which password managers can fill. */
export function NewPassword({ value, onChange }: NewPasswordProps) {
  return (
    <TextField
      label={texts.fields.newPassword}
      help={texts.fields.newPasswordHelp(PASSWORD_CHARS_MIN)}
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
