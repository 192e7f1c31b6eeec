/** The reason for a cancellation. */
import { Field, TextInput } from '../../../kit/forms/field.tsx'

interface Props {
  readonly reason: string
  readonly change: (reason: string) => void
}

export function ReasonField({ reason, change }: Props) {
  return (
    <Field label="Reason" hint="Optional. Shown on the job.">
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
