/** Creates or edits an alert rule. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { encodeName, type Problem } from '../../../api/client.ts'
import type { Alert } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import { FormEnd } from '../../../kit/forms/form-end.tsx'
import { Dialog } from '../../../kit/overlays/dialog.tsx'
import { AlertFields } from './alert-fields.tsx'
import { changeOf, type Draft, draftOf, fieldOf, NEW, type Wrong, wrongIn } from './alert-form.ts'

interface Props {
  /** Omitted for a new rule. */
  readonly alert?: Alert
  readonly close: () => void
}

export function AlertDrawer({ alert, close }: Props) {
  const [before] = useState<Draft | null>(() => (alert === undefined ? null : draftOf(alert)))
  const [draft, setDraft] = useState<Draft>(before ?? NEW)
  // Fields that were not edited yet are not reported.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [refused, setRefused] = useState<Problem | null>(null)
  const { act, isActing } = useAct({ quiet: true })
  const all = wrongIn(draft, before === null)
  const change = changeOf(before, draft)
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
    try {
      await act({
        method: 'PUT',
        path: `alerts/${encodeName(draft.name)}`,
        body: change,
        done: `${before === null ? 'Created' : 'Updated'} rule ${draft.name}`,
      })
      close()
    } catch (problem) {
      setRefused(problem as Problem)
    }
  }
  const isWrong = Object.keys(all).length > 0
  const error = refused !== null && refusedField === undefined ? refused.message : undefined
  return (
    <Dialog isDrawer title={alert === undefined ? 'New alert rule' : `Edit ${alert.name}`} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
        className="flex min-h-full flex-col gap-4"
      >
        <AlertFields draft={draft} wrong={wrong} set={set} isNew={before === null} />
        <FormEnd error={error}>
          <Button onClick={close}>Cancel</Button>
          <Button
            type="submit"
            look="main"
            disabled={isActing || isWrong || Object.keys(change).length === 0}
          >
            {before === null ? 'Create rule' : 'Save changes'}
          </Button>
        </FormEnd>
      </form>
    </Dialog>
  )
}
