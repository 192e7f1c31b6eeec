/** Name, kind, expression and time zone, with a live description of the expression. */
import { useEffect, useState } from 'react'
import { atField } from '../../../api/at-field.ts'
import { useKinds, useNextRuns } from '../../../api/reads.ts'
import { Combobox } from '../../../kit/forms/combobox.tsx'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import type { FieldsProps } from './fields-props.ts'
import { WhenPreview } from './when-preview.tsx'
import { zones } from './zones.ts'

const TYPING_MS = 150

/** The debounced text, so that not every keystroke sends a request. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function WhenFields({ draft, change, wrong, isNew }: FieldsProps & { readonly isNew: boolean }) {
  const kinds = useKinds().data?.kinds ?? []
  const when = useSettled(draft.when.trim())
  const zone = useSettled(draft.zone.trim())
  const read = useNextRuns(when, zone)
  const refused = read.error === null || when === '' ? null : atField(read.error, ['when', 'zone'])
  const whenWrong = refused?.field === 'zone' ? undefined : refused?.says
  return (
    <>
      {isNew && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" error={wrong.name} hint="e.g. nightly-report. Cannot be changed later.">
            {(ids) => (
              <TextInput
                {...ids}
                autoFocus
                value={draft.name}
                onChange={(event) => change('name', event.target.value)}
              />
            )}
          </Field>
          <Field label="Job kind" error={wrong.job} hint={kindHint(draft.job.trim(), kinds)}>
            {(ids) => (
              <Combobox
                {...ids}
                value={draft.job}
                change={(value) => change('job', value)}
                choices={kinds.map(({ kind, served }) => ({
                  value: kind,
                  note: served ? undefined : 'no worker',
                }))}
              />
            )}
          </Field>
        </div>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="When"
          error={wrong.when ?? whenWrong}
          hint="e.g. 0 9 * * MON-FRI (add a first field for seconds), @daily or every 10m."
        >
          {(ids) => (
            <TextInput
              {...ids}
              className="font-mono"
              value={draft.when}
              onChange={(event) => change('when', event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Time zone"
          error={wrong.zone ?? (refused?.field === 'zone' ? refused.says : undefined)}
          hint="Time zone of the expression."
        >
          {(ids) => (
            <Combobox
              {...ids}
              value={draft.zone}
              change={(value) => change('zone', value)}
              choices={zones()}
            />
          )}
        </Field>
      </div>
      <WhenPreview draft={draft} zone={zone} found={refused === null ? read.data : undefined} />
    </>
  )
}

function kindHint(kind: string, kinds: readonly { kind: string; served: boolean }[]): string {
  if (kind === '' || kinds.length === 0) return 'e.g. email.send'
  const known = kinds.find((one) => one.kind === kind)
  if (known === undefined) return 'No worker handles this kind.'
  return known.served
    ? 'A running worker handles this kind.'
    : 'No worker handles this kind right now. Its jobs will wait.'
}
