/** Confirms that a schedule is deleted. */
import type { Schedule } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'

interface Props {
  readonly schedule: Schedule
  readonly remove: () => Promise<unknown>
  readonly close: () => void
}

export function DeleteSchedule({ schedule: { name, kind, version }, remove, close }: Props) {
  return (
    <Confirm isDangerous title={`Delete ${name}?`} verb="Delete schedule" act={remove} close={close}>
      <p>The schedule stops enqueuing {kind} jobs. Jobs that it already enqueued are kept and still run.</p>
      {version !== null && (
        <p className="text-soft">
          It is also defined in code. It stays deleted across deploys until you reset this override on the
          System page.
        </p>
      )}
    </Confirm>
  )
}
