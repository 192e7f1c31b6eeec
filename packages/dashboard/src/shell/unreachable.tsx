/** Says that the server does not answer: what is on the page then is old. */
import { serverTime } from '../api/clock.ts'
import { useOverview } from '../api/reads.ts'
import { Moment } from '../kit/time.tsx'

export function Unreachable() {
  const { data, error, dataUpdatedAt } = useOverview()
  if (data === undefined || error === null) return null
  return (
    <p role="alert" className="bg-dead-soft px-4 py-2 text-center text-dead">
      {error.message}. What you see is of <Moment at={serverTime(dataUpdatedAt)} />; it is tried again.
    </p>
  )
}
