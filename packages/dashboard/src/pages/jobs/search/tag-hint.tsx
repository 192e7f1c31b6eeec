/** Suggests a tag with the value that a payload search looks for: lists by tag use an index. */
import { useQueries } from '@tanstack/react-query'
import { Tag } from 'lucide-react'
import { ask } from '../../../api/client.ts'
import type { JobPage, JobSummary } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import type { Filter } from '../filter/filter.ts'
import { guessTags, withTag } from './guess-tags.ts'

interface Props {
  readonly filter: Filter
  readonly matches: readonly JobSummary[]
  readonly choose: (filter: Filter) => void
}

export function TagHint({ filter, matches, choose }: Props) {
  const guesses = guessTags(filter, matches)
  const reads = useQueries({
    queries: guesses.map((tag) => ({
      queryKey: ['jobs', { tag, limit: 1 }],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        ask<JobPage>('jobs', { query: { tag, limit: 1 }, signal }),
      staleTime: 'static' as const,
      retry: false,
    })),
  })
  const tag = guesses.find((_, at) => (reads[at]?.data?.jobs.length ?? 0) > 0)
  if (tag === undefined) return null
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-soft">
      <p className="min-w-0 grow break-words">
        There are jobs with the tag <b className="font-medium text-text">{tag}</b>. Tags are indexed.
      </p>
      <Button icon={Tag} onClick={() => choose(withTag(filter, tag))}>
        Search by tag
      </Button>
    </div>
  )
}
