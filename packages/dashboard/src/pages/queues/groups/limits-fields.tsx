/** The fields for the limits of groups: of all groups of a queue, or of one group. */
import type { Override } from '../../../api/types.ts'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import { Overridden } from '../../../kit/overrides/overridden.tsx'
import type { LimitsDraft } from './group-form.ts'

interface Props {
  readonly draft: LimitsDraft
  readonly wrong: Readonly<Partial<Record<keyof LimitsDraft, string>>>
  /** What applies if a field is blank. */
  readonly otherwise: LimitsDraft
  /** Those of the queue, in its form. */
  readonly overrides?: ReadonlyMap<string, Override>
  readonly set: (part: Partial<LimitsDraft>) => void
}

const FIELDS = [
  ['groupConcurrency', 'concurrency', 'Max running', 'Jobs of a group at the same time.'],
  ['groupRate', 'rate', 'Rate', 'Started jobs of a group per period.'],
  ['groupRatePerMs', 'per', 'Period', 'e.g. 1s, 1m or 1h'],
] as const

export function LimitsFields({ draft, wrong, otherwise, overrides, set }: Props) {
  return FIELDS.map(([key, option, label, text]) => (
    <Field
      key={key}
      label={label}
      error={wrong[key]}
      hint={<Overridden override={overrides?.get(`groups.${option}`)}>{text}</Overridden>}
    >
      {(ids) => (
        <TextInput
          {...ids}
          placeholder={otherwise[key]}
          value={draft[key]}
          onChange={(event) => set({ [key]: event.target.value })}
        />
      )}
    </Field>
  ))
}
