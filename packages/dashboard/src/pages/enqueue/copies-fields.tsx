/** Several jobs at once, to try something out: the same one, with a number in it, or examples that differ. */
import { Field, Select, TextInput } from '../../kit/field.tsx'
import { MOST_COPIES } from './enqueue-draft.ts'
import { exampleOf } from './example/example.ts'
import type { FieldsProps } from './fields-props.ts'
import { type Schema, shown } from './validate/checking.ts'

export function CopiesFields({
  draft,
  change,
  wrong,
  schema,
}: FieldsProps & { readonly schema: Schema | null }) {
  const isMany = draft.copies.trim() !== '1' && draft.copies.trim() !== ''
  return (
    <fieldset className="rounded-lg border border-line px-3 pt-1 pb-2">
      <legend className="px-1 text-xs font-medium">Demo: several at once</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="How many jobs"
          error={wrong.copies}
          hint={`1 to ${MOST_COPIES.toLocaleString('en')}, all or none.`}
        >
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="numeric"
              value={draft.copies}
              onChange={(event) => change({ copies: event.target.value })}
            />
          )}
        </Field>
        {isMany && (
          <Field label="Their payloads" error={wrong.vary} hint={hintOf(draft.vary, schema)}>
            {(ids) => (
              <Select {...ids} value={draft.vary} onChange={(event) => change({ vary: event.target.value })}>
                <option value="written">As written above</option>
                <option value="varied">Examples that differ</option>
              </Select>
            )}
          </Field>
        )}
      </div>
    </fieldset>
  )
}

function hintOf(vary: string, schema: Schema | null): string {
  if (vary === 'written') return 'In texts {{n}} becomes 1, 2, 3 …; also in the keys.'
  return `${schema === null ? 'Plain ones' : 'By the schema'}: ${shown(exampleOf(schema, 1))} …`
}
