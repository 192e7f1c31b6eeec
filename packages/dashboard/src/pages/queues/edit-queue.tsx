/** Edits the live settings of a queue. A change overrides the code in every process until it is reset. */
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { encodeName, type Problem } from '../../api/client.ts'
import { useOverrides } from '../../api/overrides.ts'
import { useLimits } from '../../api/reads.ts'
import type { Queue } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/overlays/dialog.tsx'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import { Overridden } from '../../kit/overrides/overridden.tsx'
import { BackoffFields } from './backoff-fields.tsx'
import { changeOf, type Draft, draftOf, fieldOf, wrongIn } from './queue-form.ts'
import { RetentionFields } from './retention-fields.tsx'
import { isPerKey } from '../limits/limit-words.ts'

export function EditQueue({ settings, close }: { readonly settings: Queue; readonly close: () => void }) {
  // A snapshot from when the drawer opened; the live data keeps changing.
  const [before] = useState(settings)
  const [draft, setDraft] = useState<Draft>(() => draftOf(before))
  const [refused, setRefused] = useState<Problem | null>(null)
  const { act, isActing } = useAct({ quiet: true })
  const limits = useLimits().data?.limits ?? []
  const overrides = useOverrides('queue', before.name)
  const refusedField = fieldOf(refused?.field)
  const wrong = {
    ...wrongIn(draft),
    ...(refused !== null && refusedField !== undefined && { [refusedField]: refused.message }),
  }
  const change = changeOf(before, draft)
  const isSame = Object.keys(change).length === 0
  function set(part: Partial<Draft>): void {
    setDraft({ ...draft, ...part })
    setRefused(null)
  }
  async function save(): Promise<void> {
    try {
      const path = `queues/${encodeName(before.name)}`
      await act({ method: 'PATCH', path, body: change, done: `Updated ${before.name}` })
      close()
    } catch (problem) {
      setRefused(problem as Problem)
    }
  }
  const names = [
    ...new Set([
      ...limits.flatMap(({ name, settings }) => (isPerKey(settings) ? [] : name)),
      ...(before.limit === null ? [] : [before.limit]),
    ]),
  ]
  return (
    <Dialog isDrawer title={`Edit ${before.name}`} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
        className="flex flex-col gap-5"
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
        </div>
        <BackoffFields draft={draft} wrong={wrong} overrides={overrides} set={set} />
        <RetentionFields draft={draft} wrong={wrong} overrides={overrides} set={set} />
        {refused !== null && refusedField === undefined && (
          <p role="alert" className="text-dead">
            {refused.fix === undefined ? refused.message : `${refused.message}. ${refused.fix}.`}
          </p>
        )}
        <div className="flex justify-end gap-2 border-t border-line pt-4">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="main" disabled={isActing || isSame || Object.keys(wrong).length > 0}>
            Save changes
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
