/** Empty states of the job list: how to enqueue a first job, or which filter to remove. */
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useMay } from '../../api/user/roles.ts'
import { Button } from '../../kit/button.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { Empty } from '../../kit/data-view.tsx'
import { EnqueueDrawer } from '../enqueue/enqueue-drawer.tsx'
import { chipsOf } from './filter/chips.ts'
import { type Filter, NO_FILTER } from './filter/filter.ts'

const COMMAND = `jobmill enqueue email.send '{"to":"ada@example.com"}'`
const CODE = `await mill.enqueue('email.send', { to: 'ada@example.com' })`

export function NoJobs() {
  const may = useMay()
  const [isEnqueuing, setEnqueuing] = useState(false)
  return (
    <Empty title="No jobs yet">
      <div className="flex flex-col items-center gap-3">
        {may('operator') && (
          <Button look="main" icon={Plus} onClick={() => setEnqueuing(true)}>
            Enqueue job
          </Button>
        )}
        <Way says="CLI:" text={COMMAND} what="the command" />
        <Way says="TypeScript:" text={CODE} what="the code" />
      </div>
      {isEnqueuing && <EnqueueDrawer close={() => setEnqueuing(false)} />}
    </Empty>
  )
}

function Way({ says, text, what }: { readonly says: string; readonly text: string; readonly what: string }) {
  return (
    <div className="w-full">
      <p>{says}</p>
      <p className="flex items-center justify-center gap-1">
        <code className="min-w-0 rounded bg-sunk px-2 py-1 font-mono text-xs break-all text-text">
          {text}
        </code>
        <CopyButton text={text} what={what} />
      </p>
    </div>
  )
}

interface Props {
  readonly filter: Filter
  readonly choose: (filter: Filter) => void
}

export function NothingMatches({ filter, choose }: Props) {
  const chips = chipsOf(filter)
  return (
    <Empty title="No matching jobs">
      <p>
        {chips.length > 1 ? 'Jobs must match every filter. Try removing one:' : 'Try removing the filter:'}
      </p>
      <div className="mt-2 flex flex-wrap justify-center gap-2">
        {chips.map(({ text, name, value, without }) => (
          <Button key={text} className="max-w-72" onClick={() => choose(without)}>
            <span className="truncate">
              Remove {name} {value}
            </span>
          </Button>
        ))}
        {chips.length > 1 && <Button onClick={() => choose(NO_FILTER)}>Clear filter</Button>}
      </div>
    </Empty>
  )
}
