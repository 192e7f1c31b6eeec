/** A group in the table of its queue. */
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../../api/user/roles.ts'
import type { Group, Queue } from '../../../api/types.ts'
import { IconButton, TextLink } from '../../../kit/button.tsx'
import { PauseButton } from '../../../kit/pause-button.tsx'
import { Badge } from '../../../kit/state.tsx'
import { ActsCell, Cell, Row } from '../../../kit/table/table.tsx'
import { number, percent, span } from '../../../kit/text/format.ts'
import { Ago, Countdown } from '../../../kit/text/time.tsx'
import { groupAddress } from '../../jobs/filter/address.ts'
import { EditGroup } from './edit-group.tsx'
import { groupPausing, waitingText } from './group-now.ts'

interface Props {
  readonly queue: Queue
  readonly group: Group
  /** The part of the queue that the group is due; null for none. */
  readonly share: number | null
  readonly asOf: number
}

export function GroupRow({ queue, group, share, asOf }: Props) {
  const { name, waiting, running, concurrency, oldestMs, weight, rate, ratePerMs, nextTokenMs } = group
  return (
    <Row>
      <Cell>
        <TextLink to={groupAddress(queue.name, name)} className="block max-w-28 truncate sm:max-w-52">
          <span title={name}>{name}</span>
        </TextLink>
        <Changed group={group} />
      </Cell>
      <Cell right>{waitingText(waiting)}</Cell>
      <Cell right>
        {number(running)}
        {concurrency !== null && <span className="text-soft"> of {number(concurrency)}</span>}
      </Cell>
      <Cell right>{oldestMs === null ? <None /> : span(Math.floor(oldestMs / 1_000) * 1_000)}</Cell>
      {queue.groupFair && (
        <Cell right>
          {number(weight)}
          {share !== null && <span className="text-soft"> ({percent(share)})</span>}
        </Cell>
      )}
      <Cell className="whitespace-nowrap">
        {rate === null || ratePerMs === null ? <None /> : `${number(rate)} per ${span(ratePerMs)}`}
        {nextTokenMs !== null && (
          <span className="block text-xs text-soft">
            next token: <Countdown until={asOf + nextTokenMs} />
          </span>
        )}
      </Cell>
      <Cell>{group.paused ? <Badge colour="text-ready" text="paused" /> : <None />}</Cell>
      <ActsCell>
        <GroupActs queue={queue} group={group} />
      </ActsCell>
    </Row>
  )
}

function Changed({ group: { overrides } }: Pick<Props, 'group'>) {
  if (overrides === null) return null
  return (
    <p className="max-w-28 text-xs text-ready sm:max-w-none">
      changed{overrides.by !== null && ` by ${overrides.by}`} <Ago at={overrides.at} />
    </p>
  )
}

function GroupActs({ queue, group }: Pick<Props, 'queue' | 'group'>) {
  const may = useMay()
  const [isEditing, setEditing] = useState(false)
  if (!may('operator')) return null
  const { name, paused } = group
  return (
    <>
      <PauseButton
        isTight
        name={`group ${name}`}
        isPaused={paused}
        pausing={groupPausing(queue.name, group)}
      />
      <IconButton
        isTight
        label={`Edit group ${name}`}
        word="Edit"
        icon={Pencil}
        onClick={() => setEditing(true)}
      />
      {isEditing && <EditGroup queue={queue} group={group} close={() => setEditing(false)} />}
    </>
  )
}

const None = () => <span className="text-soft">–</span>
