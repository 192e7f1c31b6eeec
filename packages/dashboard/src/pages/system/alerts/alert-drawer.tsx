/** Creates or edits an alert rule. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import type { Alert } from '../../../api/types.ts'
import { DrawerForm } from '../../../kit/forms/drawer-form.tsx'
import { useDraft } from '../../../kit/forms/use-draft.ts'
import { AlertFields } from './alert-fields.tsx'
import { changeOf, type Draft, draftOf, fieldOf, NEW, wrongIn } from './alert-form.ts'

interface Props {
  /** Omitted for a new rule. */
  readonly alert?: Alert
  /** How the form of a new rule starts. */
  readonly draft?: Draft
  readonly close: () => void
}

export function AlertDrawer({ alert, draft: start = NEW, close }: Props) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(() => (alert === undefined ? null : draftOf(alert)))
  const isNew = before === null
  const { draft, set, wrong, isValid, error, send } = useDraft(before ?? start, {
    wrongIn: (one) => wrongIn(one, isNew),
    fieldOf,
  })
  const { act, isActing } = useAct({ quiet: true })
  const body = changeOf(before, draft)
  const done = `${isNew ? 'Created' : 'Updated'} rule ${draft.name}`
  return (
    <DrawerForm
      title={isNew ? 'New alert rule' : `Edit ${before.name}`}
      verb={isNew ? 'Create rule' : 'Save changes'}
      isReady={!isActing && isValid && Object.keys(body).length > 0}
      error={error}
      send={() =>
        send(() => act({ method: 'PUT', path: `alerts/${encodeName(draft.name)}`, body, done }), close)
      }
      close={close}
    >
      <AlertFields draft={draft} wrong={wrong} set={set} isNew={isNew} />
    </DrawerForm>
  )
}
