/** Names to suggest: those known to the mill, and those of the jobs on the page. */
import { useMemo } from 'react'
import { useKinds, useOverview } from '../../../api/reads.ts'
import { useMay } from '../../../api/roles.ts'
import type { JobSummary } from '../../../api/types.ts'
import type { KnownNames } from './suggest.ts'

export function useKnown(jobs: readonly JobSummary[]): KnownNames {
  const overview = useOverview().data
  const kinds = useKinds().data?.kinds
  const mayPayload = useMay()('operator')
  return useMemo(
    () => ({
      queues: sorted(overview?.queues.map(({ settings }) => settings.name) ?? []),
      kinds: sorted([
        ...(kinds ?? []).map(({ kind }) => kind),
        ...(overview?.instances ?? []).flatMap((instance) => instance.kinds),
        ...jobs.map(({ kind }) => kind),
      ]),
      tags: sorted(jobs.flatMap(({ tags }) => tags)),
      mayPayload,
    }),
    [overview, kinds, jobs, mayPayload],
  )
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted()
