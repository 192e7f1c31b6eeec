/** What else is said of when: bounds, chance, and what becomes of runs that nobody could make. */
import { Field, Select, TextInput } from '../../../kit/field.tsx'
import type { FieldsProps } from './fields-props.ts'

export function TimingFields({ draft, change, wrong }: FieldsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Start"
        error={wrong.start}
        hint="Nothing before this; intervals count from it. Your local time."
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
      <Field label="End" error={wrong.end} hint="Nothing after this. Your local time.">
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
      <Field
        label="Jitter"
        error={wrong.jitter}
        hint="Such as 30s: each job is due up to this much later, by chance."
      >
        {(ids) => (
          <TextInput
            {...ids}
            value={draft.jitter}
            onChange={(event) => change('jitter', event.target.value)}
          />
        )}
      </Field>
      <Field label="Overlap" error={wrong.overlap} hint="While an earlier job of it waits or runs.">
        {(ids) => (
          <Select {...ids} value={draft.overlap} onChange={(event) => change('overlap', event.target.value)}>
            <option value="allow">Enqueue all the same</option>
            <option value="skip">Skip the run</option>
          </Select>
        )}
      </Field>
      <Field
        label="Missed runs"
        error={wrong.missed}
        hint="Those that passed while no process could enqueue."
      >
        {(ids) => (
          <Select {...ids} value={draft.missed} onChange={(event) => change('missed', event.target.value)}>
            <option value="skip">Leave them</option>
            <option value="last">Make up for the last one</option>
            <option value="all">Make up for all of them</option>
          </Select>
        )}
      </Field>
      {draft.missed === 'all' && (
        <Field label="Made up for, as far back as" error={wrong.within} hint="Such as 6h or 1d.">
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
