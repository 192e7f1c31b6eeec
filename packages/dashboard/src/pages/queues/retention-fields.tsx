/** How long, and how many, ended jobs are kept. */
import type { Override } from '../../api/types.ts'
import { Field, TextInput } from '../../kit/forms/field.tsx'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { type Draft, RETAINED, type Wrong } from './queue-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly overrides: ReadonlyMap<string, Override>
  readonly set: (part: Partial<Draft>) => void
}

export function RetentionFields({ draft, wrong, overrides, set }: Props) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-semibold">Retention</legend>
      {RETAINED.map(([state, age, number]) => (
        <div key={state} className="grid gap-4 sm:grid-cols-2">
          <Field
            label={`Retain ${state} jobs`}
            error={wrong[age]}
            hint={<Overridden override={overrides.get(`retain.${state}`)}>e.g. 7d, or forever</Overridden>}
          >
            {(ids) => (
              <TextInput
                {...ids}
                value={draft[age]}
                onChange={(event) => set({ [age]: event.target.value })}
              />
            )}
          </Field>
          <Field
            label={`Max ${state} jobs`}
            error={wrong[number]}
            hint={
              <Overridden override={overrides.get(`retain.${state}.most`)}>
                Keeps the newest ones. Blank: no limit.
              </Overridden>
            }
          >
            {(ids) => (
              <TextInput
                {...ids}
                inputMode="numeric"
                placeholder="no limit"
                value={draft[number]}
                onChange={(event) => set({ [number]: event.target.value })}
              />
            )}
          </Field>
        </div>
      ))}
    </fieldset>
  )
}
