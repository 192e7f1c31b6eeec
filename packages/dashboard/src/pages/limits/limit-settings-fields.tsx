/** The settings of a rate or concurrency limit. */
import { useOverrides } from '../../api/overrides.ts'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import { burstOf, type Draft, type Wrong, wrongIn } from './limit-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly set: (part: Partial<Draft>) => void
  /** Null for a new limit. */
  readonly name: string | null
}

const TYPES: readonly Draft['type'][] = ['rate', 'rate per key', 'concurrency']

export function LimitSettingsFields({ draft, wrong, set, name }: Props) {
  const overrides = useOverrides('limit', name)
  // Whether a rate is per key is fixed in code or at creation.
  const types = TYPES.filter((type) =>
    name === null ? true : draft.type === 'rate per key' ? type === draft.type : type !== 'rate per key',
  )
  const hint =
    draft.type === 'rate per key'
      ? 'A separate rate for each key. This cannot be changed.'
      : 'A rate over time, or a number of jobs at the same time.'
  const { amount, per } = wrongIn(draft)
  const natural = amount === undefined && per === undefined ? ` (${burstOf(draft)})` : ''
  const input = (
    key: 'amount' | 'per' | 'burst' | 'most',
    label: string,
    hint: string,
    code: string,
    placeholder = '',
  ) => (
    <Field
      label={label}
      error={wrong[key]}
      hint={<Overridden override={overrides.get(code)}>{hint}</Overridden>}
    >
      {(ids) => (
        <TextInput
          {...ids}
          {...(key !== 'per' && { inputMode: 'numeric' as const })}
          placeholder={placeholder}
          value={draft[key]}
          onChange={(event) => set({ [key]: event.target.value })}
        />
      )}
    </Field>
  )
  return (
    <>
      <Field label="Type" hint={<Overridden override={overrides.get('perKey')}>{hint}</Overridden>}>
        {(ids) => (
          <Select
            {...ids}
            value={draft.type}
            onChange={(event) => set({ type: event.target.value as Draft['type'] })}
          >
            {types.map((type) => (
              <option key={type} value={type}>
                {type}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.type === 'concurrency' ? (
        input('most', 'Max concurrent', 'Permits across all processes.', 'concurrency')
      ) : (
        <div className="grid gap-4 sm:grid-cols-3">
          {input('amount', 'Rate', 'Tokens per period.', 'rate')}
          {input('per', 'Period', 'e.g. 1s, 1m or 1h', 'per')}
          {input('burst', 'Burst', `Max burst. Blank: one second’s worth${natural}.`, 'burst')}
        </div>
      )}
    </>
  )
}
