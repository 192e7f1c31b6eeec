/** Says which jobs an index search covers, and switches between the index and all payloads. */
import { Search } from 'lucide-react'
import { Button } from '../../../kit/button.tsx'
import { plural } from '../../../kit/text/format.ts'
import type { Filter } from '../filter/filter.ts'
import type { PayloadIndex } from './payload-index.ts'

interface Props {
  readonly filter: Filter
  readonly index: PayloadIndex
  readonly choose: (filter: Filter) => void
}

export function IndexNote({ filter, index: { path, kinds }, choose }: Props) {
  const { readsAll } = filter
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2.5 text-soft">
      <p className="min-w-0 grow break-words">
        {readsAll ? (
          <>
            Searching all payloads. The index of <Name>{path}</Name> is faster.
          </>
        ) : (
          <>
            From the index of <Name>{path}</Name>: {kindsText(kinds)}. Jobs enqueued before the path was
            declared are not included.
          </>
        )}
      </p>
      <Button icon={Search} onClick={() => choose({ ...filter, readsAll: !readsAll })}>
        {readsAll ? 'Use the index' : 'Search all payloads'}
      </Button>
    </div>
  )
}

const MOST_NAMED = 3

function kindsText(kinds: readonly string[]): string {
  const named = kinds.slice(0, MOST_NAMED).join(', ')
  const others = kinds.length - MOST_NAMED
  return `jobs of ${named}${others > 0 ? ` and ${plural(others, 'other kind')}` : ''}`
}

function Name({ children }: { readonly children: string }) {
  return <b className="font-medium text-text">{children}</b>
}
