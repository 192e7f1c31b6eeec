/** Edits the live settings of a queue. A change overrides the code in every process until it is reset. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useOverrides } from '../../api/overrides.ts'
import { useLimits } from '../../api/reads.ts'
import type { Queue } from '../../api/types.ts'
import { DrawerForm } from '../../kit/forms/drawer-form.tsx'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import { useDraft } from '../../kit/forms/use-draft.ts'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { BackoffFields } from './backoff-fields.tsx'
import { GroupsFields } from './groups/groups-fields.tsx'
import { changeOf, draftOf, fieldOf, wrongIn } from './queue-form.ts'
import { RetentionFields } from './retention-fields.tsx'
import { isPerKey } from '../limits/limit-words.ts'

export function EditQueue({ settings, close }: { readonly settings: Queue; readonly close: () => void }) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(settings)
  const form = { wrongIn, fieldOf, isWhole: true }
  const { draft, set, wrong, isValid, error, send } = useDraft(draftOf(before), form)
  const { act, isActing } = useAct({ quiet: true })
  const limits = useLimits().data?.limits ?? []
  const { name } = before
  const overrides = useOverrides('queue', name)
  const body = changeOf(before, draft)
  const path = `queues/${encodeName(name)}`
  const names = [
    ...new Set([
      ...limits.flatMap((limit) => (isPerKey(limit.settings) ? [] : limit.name)),
      ...(before.limit === null ? [] : [before.limit]),
    ]),
  ]
  return (
    <DrawerForm
      title={`Edit ${name}`}
      verb="Save changes"
      isReady={!isActing && isValid && Object.keys(body).length > 0}
      error={error}
      send={() => send(() => act({ method: 'PATCH', path, body, done: `Updated ${name}` }), close)}
      close={close}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Workers"
          error={wrong.workers}
          hint={
            <Overridden override={overrides.get('workers')}>
              Total across processes. Blank: 10 in each process.
            </Overridden>
          }
        >
          {(ids) => (
            <TextInput
              {...ids}
              inputMode="numeric"
              placeholder="automatic"
              value={draft.workers}
              onChange={(event) => set({ workers: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Limit"
          error={wrong.limit}
          hint={
            <Overridden override={overrides.get('limit')}>Each job takes one token or permit.</Overridden>
          }
        >
          {(ids) => (
            <Select {...ids} value={draft.limit} onChange={(event) => set({ limit: event.target.value })}>
              <option value="">none</option>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label="Target latency"
          error={wrong.targetLatencyMs}
          hint={
            <Overridden override={overrides.get('targetLatency')}>
              Queue latency p95, such as 30s. Blank: no target.
            </Overridden>
          }
        >
          {(ids) => (
            <TextInput
              {...ids}
              placeholder="none"
              value={draft.targetLatencyMs}
              onChange={(event) => set({ targetLatencyMs: event.target.value })}
            />
          )}
        </Field>
      </div>
      <GroupsFields draft={draft} wrong={wrong} overrides={overrides} set={set} />
      <BackoffFields draft={draft} wrong={wrong} overrides={overrides} set={set} />
      <RetentionFields draft={draft} wrong={wrong} overrides={overrides} set={set} />
    </DrawerForm>
  )
}
