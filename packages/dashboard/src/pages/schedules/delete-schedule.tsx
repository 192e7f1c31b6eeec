/** Asks before a schedule is deleted. */
import type { Schedule } from '../../api/types/mill.ts'
import { Confirm } from '../../kit/confirm.tsx'

interface Props {
  readonly schedule: Schedule
  readonly remove: () => Promise<unknown>
  readonly close: () => void
}

export function DeleteSchedule({ schedule: { name, kind, version }, remove, close }: Props) {
  return (
    <Confirm isDangerous title={`Delete ${name}`} verb="Delete 1 schedule" act={remove} close={close}>
      <p>
        No more jobs of {kind} are enqueued by it. Jobs that it enqueued stay, and so do those that wait or
        run.
      </p>
      {version !== null && (
        <p className="text-soft">
          Code defines it too. It stays deleted through every deploy until you reset this override on the
          System page.
        </p>
      )}
    </Confirm>
  )
}
