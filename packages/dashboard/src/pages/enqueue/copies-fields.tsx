/**
 * Enqueues several jobs at once: copies of one payload with a number in them, or generated examples. Folded,
 * because few use it.
 */
import { useState } from 'react'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import { MOST_COPIES } from './enqueue-draft.ts'
import { exampleOf } from './example/example.ts'
import type { FieldsProps } from './fields-props.ts'
import { type Schema, printJson } from './validate/checking.ts'

export function CopiesFields({
  draft,
  change,
  wrong,
  schema,
}: FieldsProps & { readonly schema: Schema | null }) {
  const isMany = draft.copies.trim() !== '1' && draft.copies.trim() !== ''
  const [isOpen, setOpen] = useState(isMany)
  return (
    <details
      open={isOpen || wrong.copies !== undefined || wrong.vary !== undefined}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
        if (currentTarget.open) currentTarget.scrollIntoView({ block: 'nearest' })
      }}
      className="rounded-lg border border-line"
    >
      <summary className="px-3 py-2 text-xs font-medium">Repeat</summary>
      <div className="grid gap-4 px-3 pb-3 sm:grid-cols-2">
        <Field
          label="Number of jobs"
          error={wrong.copies}
          hint={`1 to ${MOST_COPIES.toLocaleString('en')}. All are enqueued, or none.`}
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
          <Field label="Payloads" error={wrong.vary} hint={hintOf(draft.vary, schema)}>
            {(ids) => (
              <Select {...ids} value={draft.vary} onChange={(event) => change({ vary: event.target.value })}>
                <option value="written">As entered above</option>
                <option value="varied">Generated examples</option>
              </Select>
            )}
          </Field>
        )}
      </div>
    </details>
  )
}

function hintOf(vary: string, schema: Schema | null): string {
  if (vary === 'written') return '{{n}} in payload strings, tags and keys becomes 1, 2, 3 …'
  return `${schema === null ? 'Plain examples' : 'From the schema'}: ${printJson(exampleOf(schema, 1))} …`
}
