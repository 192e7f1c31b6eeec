/** How the groups of a queue share it. */
import type { Override } from '../../../api/types.ts'
import { Check } from '../../../kit/forms/field.tsx'
import { Overridden } from '../../../kit/overrides/overridden.tsx'
import type { Draft, Wrong } from '../queue-form.ts'
import { LimitsFields } from './limits-fields.tsx'

interface Props {
  readonly draft: Draft
  readonly wrong: Wrong
  readonly overrides: ReadonlyMap<string, Override>
  readonly set: (part: Partial<Draft>) => void
}

const BLANK = { groupConcurrency: 'no limit', groupRate: 'no limit', groupRatePerMs: '1s' }

export function GroupsFields({ draft, wrong, overrides, set }: Props) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-semibold">Groups</legend>
      <div>
        <Check
          label="Groups take turns"
          checked={draft.groupFair}
          onChange={(event) => set({ groupFair: event.target.checked })}
        />
        <p className="text-xs">
          <Overridden override={overrides.get('groups.fair')} />
        </p>
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <LimitsFields draft={draft} wrong={wrong} otherwise={BLANK} overrides={overrides} set={set} />
      </div>
    </fieldset>
  )
}
