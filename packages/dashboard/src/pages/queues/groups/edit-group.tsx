/** Edits the settings of one group. Changes apply at once, in every process. */
import { useState } from 'react'
import { useAct } from '../../../api/acts.ts'
import type { Group, Queue } from '../../../api/types.ts'
import { DrawerForm } from '../../../kit/forms/drawer-form.tsx'
import { Field, TextInput } from '../../../kit/forms/field.tsx'
import { useDraft } from '../../../kit/forms/use-draft.ts'
import {
  groupChangeOf,
  groupDraftOf,
  groupFieldOf,
  groupWrongIn,
  limitsDraftOf,
  type LimitsDraft,
} from './group-form.ts'
import { groupPath } from './group-now.ts'
import { LimitsFields } from './limits-fields.tsx'

interface Props {
  readonly queue: Queue
  readonly group: Group
  readonly close: () => void
}

const FORM = { wrongIn: groupWrongIn, fieldOf: groupFieldOf, isWhole: true }

export function EditGroup({ queue, group, close }: Props) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(() => groupDraftOf(group))
  const { draft, set, wrong, isValid, error, send } = useDraft(before, FORM)
  const { act, isActing } = useAct({ quiet: true })
  const { name } = group
  const body = groupChangeOf(before, draft)
  const path = groupPath(queue.name, name)
  return (
    <DrawerForm
      title={`Edit group ${name}`}
      verb="Save changes"
      isReady={!isActing && isValid && Object.keys(body).length > 0}
      error={error}
      send={() => send(() => act({ method: 'PATCH', path, body, done: `Updated group ${name}` }), close)}
      close={close}
    >
      <p className="text-soft">A blank field uses the setting of queue {queue.name}.</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Weight" error={wrong.weight} hint="2 for twice the share of another group.">
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="decimal"
              placeholder="1"
              value={draft.weight}
              onChange={(event) => set({ weight: event.target.value })}
            />
          )}
        </Field>
        <LimitsFields draft={draft} wrong={wrong} otherwise={otherwise(limitsDraftOf(queue))} set={set} />
      </div>
    </DrawerForm>
  )
}

/** A period without a rate is not shown: it would be that of no rate. */
const otherwise = ({ groupConcurrency, groupRate, groupRatePerMs }: LimitsDraft): LimitsDraft => ({
  groupConcurrency: groupConcurrency || 'no limit',
  groupRate: groupRate || 'no limit',
  groupRatePerMs: groupRatePerMs || '1s',
})
