/** Schedules. */
import { PageHead } from '../../kit/card.tsx'

export function SchedulesPage() {
  return <PageHead title="Schedules" />
}
