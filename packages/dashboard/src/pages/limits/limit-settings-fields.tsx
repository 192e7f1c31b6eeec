/** A rate, or how many at once. */
import { useOverrides } from '../../api/overrides.ts'
import { Overridden } from '../../kit/overridden.tsx'
import { Field, Select, TextInput } from '../../kit/field.tsx'
import { burstOf, type Draft, type Wrong, wrongIn } from './limit-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly set: (part: Partial<Draft>) => void
  /** Null for a new one. */
  readonly name: string | null
}

const TYPES: readonly Draft['type'][] = ['rate', 'rate per key', 'concurrency']

export function LimitSettingsFields({ draft, wrong, set, name }: Props) {
  const overrides = useOverrides('limit', name)
  // Whether a rate counts for each key by itself is for code to say, or settled when it is created here.
  const types = TYPES.filter((type) =>
    name === null ? true : draft.type === 'rate per key' ? type === draft.type : type !== 'rate per key',
  )
  const hint =
    draft.type === 'rate per key'
      ? 'A rate over time, for each key by itself. It stays so.'
      : 'A rate over time, or jobs at the same time.'
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
      <Field label="Limits" hint={<Overridden override={overrides.get('perKey')}>{hint}</Overridden>}>
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
        input('most', 'At once', 'So many permits in all processes together.', 'concurrency')
      ) : (
        <div className="grid gap-4 sm:grid-cols-3">
          {input('amount', 'Rate', 'Tokens in each stretch of time.', 'rate')}
          {input('per', 'Per', 'A duration such as 1s, 1m or 1h.', 'per')}
          {input('burst', 'Burst', `The most at one instant. Empty: one second’s worth${natural}.`, 'burst')}
        </div>
      )}
    </>
  )
}
