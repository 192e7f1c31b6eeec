/** Banner for a server that does not answer, so that stale data is recognized as such. */
import { serverTime } from '../api/clock.ts'
import { usePace } from '../api/live/live.ts'
import { useOverview } from '../api/reads.ts'
import { Moment } from '../kit/text/time.tsx'

export function Unreachable() {
  const { data, error, dataUpdatedAt } = useOverview()
  const isRefreshing = usePace() > 0
  if (data === undefined || error === null) return null
  return (
    <p role="alert" className="bg-dead-soft px-4 py-2 text-center text-dead">
      {error.message}. Showing data from <Moment at={serverTime(dataUpdatedAt)} />.
      {isRefreshing && ' Retrying…'}
    </p>
  )
}
