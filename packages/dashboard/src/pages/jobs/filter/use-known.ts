/** Names to suggest: those known to the mill, and those of the jobs on the page. */
import { useMemo } from 'react'
import { useKinds, useOverview, useVersions } from '../../../api/reads.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { JobSummary } from '../../../api/types.ts'
import type { KnownNames } from './suggest.ts'

export function useKnown(jobs: readonly JobSummary[]): KnownNames {
  const overview = useOverview().data
  const kinds = useKinds().data?.kinds
  const versions = useVersions().data?.versions
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
      // Latest first, as the API sends them.
      versions: versions?.map(({ version }) => version) ?? [],
      mayPayload,
    }),
    [overview, kinds, jobs, versions, mayPayload],
  )
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted()
