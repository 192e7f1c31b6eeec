/** The pages of the applications that the server has; null while loading. */
import { useApps, useOverview } from '../api/reads.ts'
import { type AppPlace, appPlaces } from '../pages/app-pages.ts'

export function useAppPlaces(): readonly AppPlace[] | null {
  const { data: overview } = useOverview()
  const { data } = useApps(overview !== undefined)
  return data === undefined ? null : appPlaces(data.apps)
}
