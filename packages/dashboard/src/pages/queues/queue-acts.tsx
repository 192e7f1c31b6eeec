/** The actions for a queue that the user's role allows. */
import { Pencil, Snowflake } from 'lucide-react'
import { useState } from 'react'
import { useAct } from '../../api/acts.ts'
import { useMay } from '../../api/user/roles.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { IconButton } from '../../kit/button.tsx'
import { PauseButton } from '../../kit/pause-button.tsx'
import { EditQueue } from './edit-queue.tsx'
import { endCoolDown, queuePausing } from './queue-now.ts'

export function QueueActs({ queue }: { readonly queue: QueueAndCounts }) {
  const may = useMay()
  const { actNow, isActing } = useAct()
  const [isEditing, setEditing] = useState(false)
  const { settings, counts } = queue
  const { name, paused, coolingMs } = settings
  if (!may('operator')) return null
  return (
    <>
      {coolingMs > 0 && may('admin') && (
        <IconButton
          label={`End cool-down of ${name}`}
          icon={Snowflake}
          disabled={isActing}
          onClick={() => actNow(endCoolDown(name))}
        />
      )}
      <PauseButton isTight name={name} isPaused={paused} pausing={queuePausing(counts)} />
      {may('admin') && (
        <IconButton
          isTight
          label={`Edit ${name}`}
          word="Edit"
          icon={Pencil}
          onClick={() => setEditing(true)}
        />
      )}
      {isEditing && <EditQueue settings={settings} close={() => setEditing(false)} />}
    </>
  )
}
