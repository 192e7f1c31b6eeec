/** Timing options: start and end, jitter, overlap and missed runs. */
import { Field, Select, TextInput } from '../../../kit/forms/field.tsx'
import type { FieldsProps } from './fields-props.ts'

export function TimingFields({ draft, change, wrong }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Start"
        error={wrong.start}
        hint="No runs before this. Intervals count from it. Local time."
      >
        {(ids) => (
          <TextInput
            {...ids}
            type="datetime-local"
            step={1}
            value={draft.start}
            onChange={(event) => change('start', event.target.value)}
          />
        )}
      </Field>
      <Field label="End" error={wrong.end} hint="No runs after this. Local time.">
        {(ids) => (
          <TextInput
            {...ids}
            type="datetime-local"
            step={1}
            value={draft.end}
            onChange={(event) => change('end', event.target.value)}
          />
        )}
      </Field>
      <Field label="Jitter" error={wrong.jitter} hint="e.g. 30s. The maximum random delay of each run.">
        {(ids) => (
          <TextInput
            {...ids}
            value={draft.jitter}
            onChange={(event) => change('jitter', event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Overlap"
        error={wrong.overlap}
        hint="What to do while the previous job is waiting or running."
      >
        {(ids) => (
          <Select {...ids} value={draft.overlap} onChange={(event) => change('overlap', event.target.value)}>
            <option value="allow">Enqueue anyway</option>
            <option value="skip">Skip run</option>
          </Select>
        )}
      </Field>
      <Field label="Missed runs" error={wrong.missed} hint="Runs missed while no process could enqueue.">
        {(ids) => (
          <Select {...ids} value={draft.missed} onChange={(event) => change('missed', event.target.value)}>
            <option value="skip">Skip</option>
            <option value="last">Run the latest</option>
            <option value="all">Run all</option>
          </Select>
        )}
      </Field>
      {draft.missed === 'all' && (
        <Field label="Catch-up window" error={wrong.within} hint="e.g. 6h or 1d. Older runs are skipped.">
          {(ids) => (
            <TextInput
              {...ids}
              value={draft.within}
              onChange={(event) => change('within', event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  )
}
