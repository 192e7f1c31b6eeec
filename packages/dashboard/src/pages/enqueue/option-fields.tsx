/** Enqueue options. An empty field uses the kind's default. */
import type { HTMLInputTypeAttribute } from 'react'
import { useOverview } from '../../api/reads.ts'
import { Combobox } from '../../kit/forms/combobox.tsx'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import type { EnqueueField } from './enqueue-draft.ts'
import type { FieldsProps } from './fields-props.ts'

export function OptionFields(props: FieldsProps) {
  const { draft, change, wrong } = props
  const queues = useOverview().data?.queues ?? []
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Queue" error={wrong.queue} hint="Leave blank for the kind's default.">
        {(ids) => (
          <Combobox
            {...ids}
            value={draft.queue}
            change={(queue) => change({ queue })}
            choices={queues.map(({ settings: { name, paused } }) => ({
              value: name,
              note: paused ? 'paused' : undefined,
            }))}
          />
        )}
      </Field>
      <Plain {...props} name="tags" label="Tags" hint="Comma-separated." />
      <Field label="Run" error={wrong.when}>
        {(ids) => (
          <Select {...ids} value={draft.when} onChange={(event) => change({ when: event.target.value })}>
            <option value="now">Now</option>
            <option value="delay">After a delay</option>
            <option value="at">At a specific time</option>
          </Select>
        )}
      </Field>
      {draft.when === 'delay' && (
        <Plain {...props} name="delay" label="Delay" hint="e.g. 90s, 10m or 1h30m" />
      )}
      {draft.when === 'at' && (
        <Plain {...props} name="runAt" label="Run at" hint="Your local time." type="datetime-local" />
      )}
      <Plain
        {...props}
        name="priority"
        label="Priority"
        hint="Lower runs first. Leave blank for the kind's default."
      />
      <Plain {...props} name="maxAttempts" label="Max attempts" hint="Leave blank for the kind's default." />
      <Plain
        {...props}
        name="timeout"
        label="Attempt timeout"
        hint="e.g. 10m. Leave blank for the kind's default."
      />
      <Plain
        {...props}
        name="dedupeKey"
        label="Dedupe key"
        hint="Only one job with this key can wait or run at a time."
      />
      <Plain
        {...props}
        name="orderKey"
        label="Order key"
        hint="Jobs in a queue with the same key run one at a time."
      />
    </div>
  )
}

interface PlainProps extends FieldsProps {
  readonly name: EnqueueField
  readonly label: string
  readonly hint: string
  readonly type?: HTMLInputTypeAttribute
}

function Plain({ draft, change, wrong, name, label, hint, type = 'text' }: PlainProps) {
  return (
    <Field label={label} hint={hint} error={wrong[name]}>
      {(ids) => (
        <TextInput
          {...ids}
          type={type}
          step={type === 'datetime-local' ? 1 : undefined}
          value={draft[name]}
          onChange={(event) => change({ [name]: event.target.value })}
        />
      )}
    </Field>
  )
}
