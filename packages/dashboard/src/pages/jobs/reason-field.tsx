/** Why something is cancelled. */
import { Field, TextInput } from '../../kit/field.tsx'

interface Props {
  readonly reason: string
  readonly change: (reason: string) => void
}

export function ReasonField({ reason, change }: Props) {
  return (
    <Field label="Reason" hint="Kept with the job, for whoever asks why. May be left empty.">
      {(ids) => (
        <TextInput
          {...ids}
          maxLength={1_000}
          value={reason}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  )
}
