/** Creates or edits a limit. Changes apply at once, in every process. */
import { useState } from 'react'
import { type Act, useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import type { Limit } from '../../api/types.ts'
import { DrawerForm } from '../../kit/forms/drawer-form.tsx'
import { Field, TextInput } from '../../kit/forms/field.tsx'
import { useDraft } from '../../kit/forms/use-draft.ts'
import { changeOf, type Draft, draftOf, fieldOf, NEW, settingsOf, wrongIn } from './limit-form.ts'
import { LimitSettingsFields } from './limit-settings-fields.tsx'

interface Props {
  /** Omitted for a new limit. */
  readonly limit?: Limit
  readonly close: () => void
}

export function LimitDrawer({ limit, close }: Props) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(() => (limit === undefined ? null : draftOf(limit)))
  const isNew = before === null
  const { draft, set, wrong, isValid, error, send } = useDraft(before ?? NEW, { wrongIn, fieldOf })
  const { act, isActing } = useAct({ quiet: true })
  return (
    <DrawerForm
      title={isNew ? 'New limit' : `Edit ${before.name}`}
      verb={isNew ? 'Create limit' : 'Save changes'}
      isReady={!isActing && isValid && !(before !== null && isEmpty(changeOf(before, draft)))}
      error={error}
      send={() => send(() => act(requestOf(before, draft)), close)}
      close={close}
    >
      {isNew && (
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
      <LimitSettingsFields draft={draft} wrong={wrong} set={set} name={before?.name ?? null} />
    </DrawerForm>
  )
}

function requestOf(before: Draft | null, draft: Draft): Act {
  const { name } = draft
  return before === null
    ? { method: 'POST', path: 'limits', body: { name, ...settingsOf(draft) }, done: `Created limit ${name}` }
    : {
        method: 'PATCH',
        path: `limits/${encodeName(name)}`,
        body: changeOf(before, draft),
        done: `Updated limit ${name}`,
      }
}

const isEmpty = (change: object): boolean => Object.keys(change).length === 0
