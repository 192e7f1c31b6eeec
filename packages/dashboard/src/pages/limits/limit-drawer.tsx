/** Creates or edits a limit. Changes apply at once, in every process. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName, type Problem } from '../../api/client.ts'
import type { Limit } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/overlays/dialog.tsx'
import { Field, TextInput } from '../../kit/forms/field.tsx'
import { changeOf, type Draft, draftOf, fieldOf, NEW, settingsOf, type Wrong, wrongIn } from './limit-form.ts'
import { LimitSettingsFields } from './limit-settings-fields.tsx'

interface Props {
  /** Omitted for a new limit. */
  readonly limit?: Limit
  readonly close: () => void
}

export function LimitDrawer({ limit, close }: Props) {
  const [before] = useState<Draft>(() => (limit === undefined ? NEW : draftOf(limit)))
  const [draft, setDraft] = useState<Draft>(before)
  // Fields that were not edited yet are not reported.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [refused, setRefused] = useState<Problem | null>(null)
  const { act, isActing } = useAct({ quiet: true })
  const all = wrongIn(draft)
  const isSame = limit !== undefined && Object.keys(all).length === 0 && isEmpty(changeOf(before, draft))
  const refusedField = fieldOf(refused?.field)
  const wrong: Wrong = {
    ...Object.fromEntries(Object.entries(all).filter(([key]) => touched.has(key))),
    ...(refused !== null && refusedField !== undefined && { [refusedField]: refused.message }),
  }
  function set(part: Partial<Draft>): void {
    setDraft({ ...draft, ...part })
    setTouched(new Set([...touched, ...Object.keys(part)]))
    setRefused(null)
  }
  async function save(): Promise<void> {
    const settings = settingsOf(draft)
    try {
      await (limit === undefined
        ? act({
            method: 'POST',
            path: 'limits',
            body: { name: draft.name, ...settings },
            done: `Created limit ${draft.name}`,
          })
        : act({
            method: 'PATCH',
            path: `limits/${encodeName(limit.name)}`,
            body: changeOf(before, draft),
            done: `Updated limit ${limit.name}`,
          }))
      close()
    } catch (problem) {
      setRefused(problem as Problem)
    }
  }
  return (
    <Dialog isDrawer title={limit === undefined ? 'New limit' : `Edit ${limit.name}`} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
        className="flex flex-col gap-4"
      >
        {limit === undefined && (
          <Field
            label="Name"
            error={wrong.name}
            hint="Handlers and queue settings refer to the limit by this name."
          >
            {(ids) => (
              <TextInput
                {...ids}
                autoFocus
                value={draft.name}
                onChange={(event) => set({ name: event.target.value })}
              />
            )}
          </Field>
        )}
        <LimitSettingsFields draft={draft} wrong={wrong} set={set} name={limit?.name ?? null} />
        {refused !== null && refusedField === undefined && (
          <p role="alert" className="text-dead">
            {refused.fix === undefined ? refused.message : `${refused.message}. ${refused.fix}.`}
          </p>
        )}
        <div className="flex justify-end gap-2 border-t border-line pt-4">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="main" disabled={isActing || isSame || Object.keys(all).length > 0}>
            {limit === undefined ? 'Create limit' : 'Save changes'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function isEmpty(change: object): boolean {
  return Object.keys(change).length === 0
}
