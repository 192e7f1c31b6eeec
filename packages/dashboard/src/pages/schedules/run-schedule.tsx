/** Confirms an extra run of a schedule: it may charge or send something a second time. */
import type { Schedule } from '../../api/types.ts'
import { Confirm } from '../../kit/overlays/confirm.tsx'
import { Ago } from '../../kit/text/time.tsx'

interface Props {
  readonly schedule: Schedule
  readonly run: () => Promise<unknown>
  readonly close: () => void
}

export function RunSchedule({ schedule: { name, kind, queue, nextAt }, run, close }: Props) {
  return (
    <Confirm title={`Run ${name} now?`} verb="Run now" close={close} act={run}>
      <p>
        Enqueues one job of kind <b className="font-medium wrap-anywhere">{kind}</b> in the queue{' '}
        <b className="font-medium wrap-anywhere">{queue}</b>.
      </p>
      <p className="text-soft">
        {nextAt === null ? (
          'No run is scheduled.'
        ) : (
          <>
            The next scheduled run, <Ago at={nextAt} />, is unchanged.
          </>
        )}
      </p>
    </Confirm>
  )
}
