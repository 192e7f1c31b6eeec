/** Enqueue options for the jobs of a schedule. */
import { useOverview } from '../../../api/reads.ts'
import { Combobox } from '../../../kit/forms/combobox.tsx'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import type { FieldsProps } from './fields-props.ts'

export function JobFields({ draft, change, wrong, isNew }: FieldsProps & { readonly isNew: boolean }) {
  const queues = useOverview().data?.queues ?? []
  const asKind = isNew ? "Leave blank for the kind's default." : undefined
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Queue" error={wrong.queue} hint={asKind}>
        {(ids) => (
          <Combobox
            {...ids}
            value={draft.queue}
            change={(value) => change('queue', value)}
            choices={queues.map(({ settings: { name, paused } }) => ({
              value: name,
              note: paused ? 'paused' : undefined,
            }))}
          />
        )}
      </Field>
      <Field label="Tags" error={wrong.tags} hint="Comma-separated.">
        {(ids) => (
          <TextInput {...ids} value={draft.tags} onChange={(event) => change('tags', event.target.value)} />
        )}
      </Field>
      <Field label="Priority" error={wrong.priority} hint={asKind ?? 'Lower runs first.'}>
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="numeric"
            value={draft.priority}
            onChange={(event) => change('priority', event.target.value)}
          />
        )}
      </Field>
      <Field label="Max attempts" error={wrong.maxAttempts} hint={asKind}>
        {(ids) => (
          <TextInput
            {...ids}
            inputMode="numeric"
            value={draft.maxAttempts}
            onChange={(event) => change('maxAttempts', event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Attempt timeout"
        error={wrong.timeout}
        hint="e.g. 10m. Leave blank for the kind's default."
      >
        {(ids) => (
          <TextInput
            {...ids}
            value={draft.timeout}
            onChange={(event) => change('timeout', event.target.value)}
          />
        )}
      </Field>
    </div>
  )
}
