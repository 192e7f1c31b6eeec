/** How long, and how many, ended jobs are kept. */
import type { Difference } from '../../api/types/mill.ts'
import { Field, TextInput } from '../../kit/field.tsx'
import { CodeSays } from '../../kit/code-says.tsx'
import { type Draft, RETAINED, type Wrong } from './queue-form.ts'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly differs: ReadonlyMap<string, Difference>
  readonly set: (part: Partial<Draft>) => void
}

export function RetentionFields({ draft, wrong, differs, set }: Props) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-semibold">Ended jobs are kept</legend>
      {RETAINED.map(([state, age, number]) => (
        <div key={state} className="grid gap-4 sm:grid-cols-2">
          <Field
            label={`Keep ${state} jobs for`}
            error={wrong[age]}
            hint={<CodeSays difference={differs.get(age)}>A duration such as 7d, or forever.</CodeSays>}
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
            label={`Keep ${state} jobs at most`}
            error={wrong[number]}
            hint={
              <CodeSays difference={differs.get(number)}>The newest so many. Empty: any number.</CodeSays>
            }
          >
            {(ids) => (
              <TextInput
                {...ids}
                inputMode="numeric"
                placeholder="any number"
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
