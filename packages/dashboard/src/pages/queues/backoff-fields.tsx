/** How a queue backs off when its upstream throttles it. */
import type { Override } from '../../api/types.ts'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { Check, Field, TextInput } from '../../kit/forms/field.tsx'
import type { Draft, Wrong } from './queue-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly overrides: ReadonlyMap<string, Override>
  readonly set: (part: Partial<Draft>) => void
}

const FIELDS = [
  [
    'backoffBaseMs',
    'backoff.base',
    'Initial backoff',
    'Doubles after each failure, and each time the queue is throttled again.',
  ],
  ['backoffMaxMs', 'backoff.max', 'Maximum backoff', 'The backoff never exceeds this.'],
] as const

export function BackoffFields({ draft, wrong, overrides, set }: Props) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-semibold">Backoff</legend>
      <div>
        <Check
          label="Enable backoff"
          checked={draft.backoffEnabled}
          onChange={(event) => set({ backoffEnabled: event.target.checked })}
        />
        <p className="text-xs">
          <Overridden override={overrides.get('backoff.enabled')} />
        </p>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {FIELDS.map(([key, option, label, hint]) => (
          <Field
            key={key}
            label={label}
            error={wrong[key]}
            hint={<Overridden override={overrides.get(option)}>{hint}</Overridden>}
          >
            {(ids) => (
              <TextInput
                {...ids}
                value={draft[key]}
                onChange={(event) => set({ [key]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  )
}
