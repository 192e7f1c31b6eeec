/**
 * Bulk actions on all jobs that match the filter, across all pages. Retry, the most common one, has a button
 * of its own where the filter is about jobs that failed.
 */
import { ListChecks } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../../api/user/roles.ts'
import { Button } from '../../../kit/button.tsx'
import { Menu, MenuItem } from '../../../kit/overlays/menu.tsx'
import { type ActInfo, ACTS } from './acts.ts'
import { BulkConfirm } from './bulk-confirm.tsx'
import { chipsOf } from '../filter/chips.ts'
import type { Filter } from '../filter/filter.ts'
import { useCounts } from '../list/state-tabs.tsx'

interface Props {
  readonly filter: Filter
  readonly now: number
  /** The filter is known to match nothing. */
  readonly isNone: boolean
}

export function MatchingMenu({ filter, now, isNone }: Props) {
  const may = useMay()
  const counts = useCounts(filter.queue)
  const [asked, setAsked] = useState<ActInfo | null>(null)
  const isCounted = chipsOf({ ...filter, queue: null, state: null }).length === 0

  /** Whether the action is known to change no job, from the filter and the counts. */
  function isIdle({ states }: ActInfo): boolean {
    const meant = states.filter((state) => filter.state === null || filter.state === state)
    return (
      isNone ||
      meant.length === 0 ||
      (isCounted && counts !== null && meant.every((state) => counts[state] === 0))
    )
  }

  const retry = ACTS.find(({ act, role }) => act === 'retry' && may(role))
  return (
    <>
      {retry !== undefined && isAboutFailures(filter) && !isIdle(retry) && (
        <Button icon={retry.icon} onClick={() => setAsked(retry)}>
          Retry all…
        </Button>
      )}
      <Menu
        trigger={
          <Button look="quiet" icon={ListChecks}>
            Bulk actions
          </Button>
        }
      >
        {ACTS.filter(({ role }) => may(role)).map((info) => (
          <MenuItem
            key={info.act}
            icon={info.icon}
            isDangerous={info.isDangerous}
            isDisabled={isIdle(info)}
            select={() => setAsked(info)}
          >
            {info.name}…
          </MenuItem>
        ))}
      </Menu>
      {asked !== null && (
        <BulkConfirm
          info={asked}
          meant={{ filter, now }}
          close={() => setAsked(null)}
          onEnqueued={() => undefined}
        />
      )}
    </>
  )
}

function isAboutFailures(filter: Filter): boolean {
  const isDead = filter.state === 'dead' || filter.state === 'cancelled'
  return isDead || filter.error !== null || filter['failed-after'] !== null
}
